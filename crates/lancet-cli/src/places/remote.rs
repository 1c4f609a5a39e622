//! Files in stores; without the feature `cloud` there are none.

#[cfg(feature = "cloud")]
pub use super::cloud::Remote;

#[cfg(not(feature = "cloud"))]
pub use missing::Remote;

#[cfg(not(feature = "cloud"))]
mod missing {
    use std::convert::Infallible;
    use std::fs::File;
    use std::path::Path;
    use std::sync::Arc;

    use lancet::Source;

    use crate::error::{Error, Result};
    use crate::places::Access;

    /// A file in a store, which this program cannot reach.
    #[derive(Debug, Clone)]
    pub struct Remote(Infallible);

    impl Remote {
        /// Tells what is missing.
        pub fn new(url: &str, _: &Access) -> Result<Self> {
            Err(Error::new(format!(
                "{url}: this program was built without URLs; build it with them: \
                 cargo install --path crates/lancet-cli --locked --profile dist --features cloud"
            )))
        }

        pub fn source(&self) -> Result<Arc<dyn Source>, String> {
            match self.0 {}
        }

        pub fn download(&self, _: &mut File) -> Result<u64, String> {
            match self.0 {}
        }

        pub fn upload(&self, _: &Path) -> Result<u64, String> {
            match self.0 {}
        }

        pub fn exists(&self) -> Result<bool, String> {
            match self.0 {}
        }
    }
}
