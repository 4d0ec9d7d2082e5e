//! Which shadow a word on the command line means.
