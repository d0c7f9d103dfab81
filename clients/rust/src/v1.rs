//! The protocol's messages and services, generated from its files.
#![allow(clippy::all, clippy::pedantic, missing_docs)]

include!("v1/arena.v1.rs");
