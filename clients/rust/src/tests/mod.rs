//! The tests, which need the crate's private modules, and their shared helpers.

mod corpus;
mod deals;
mod features;
mod listener;
mod receipt_stories;
mod vectors;
