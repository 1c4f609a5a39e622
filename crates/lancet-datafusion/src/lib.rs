//! Lance files as tables of DataFusion.
