//! The tests, which need the crate's own modules, and what they share.

mod corpus;
mod deals;
mod features;
mod listener;
mod receipt_stories;
mod vectors;
