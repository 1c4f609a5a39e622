//! Lance files in Ballista.
