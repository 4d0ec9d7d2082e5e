//! Which shadows there are.
