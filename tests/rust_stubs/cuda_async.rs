//! Stub of `cuda-async`: device pointers and operations that run on a stream.

pub mod error {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum DeviceError {
        Driver(cuda_core::DriverError),
        Launch(String),
    }
}

pub mod device_buffer {
    use std::marker::PhantomData;

    #[derive(Debug, Clone, Copy)]
    pub struct DevicePointer<T> {
        raw: u64,
        element: PhantomData<T>,
    }

    unsafe impl<T> Send for DevicePointer<T> {}

    impl<T> DevicePointer<T> {
        /// # Safety
        /// `raw` must be a live device address of elements of type `T`.
        pub unsafe fn from_cu_deviceptr(raw: u64) -> Self {
            DevicePointer { raw, element: PhantomData }
        }

        pub fn cu_deviceptr(&self) -> u64 {
            self.raw
        }
    }
}

pub mod device_operation {
    use crate::error::DeviceError;
    use cuda_core::Stream;
    use std::sync::Arc;

    pub trait DeviceOp: Sized + Send {
        type Output: Send;

        fn sync(self) -> Result<Self::Output, DeviceError>;

        /// # Safety
        /// The caller keeps every borrowed argument alive until the stream has run the operation.
        unsafe fn async_on(self, stream: &Arc<Stream>) -> Result<Self::Output, DeviceError>;

        fn sync_on(self, stream: &Arc<Stream>) -> Result<Self::Output, DeviceError>;
    }
}

pub mod prelude {
    pub use crate::device_operation::DeviceOp;
    pub use crate::error::DeviceError;
}
