//! Stub of `cuda-core`: devices, borrowed streams, element types.

use core::ffi::c_void;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverError(pub u32);

#[derive(Debug)]
pub struct Device {
    ordinal: usize,
}

impl Device {
    pub fn new(ordinal: usize) -> Result<Arc<Self>, DriverError> {
        Ok(Arc::new(Device { ordinal }))
    }

    pub fn ordinal(&self) -> usize {
        self.ordinal
    }
}

#[derive(Debug)]
pub struct Stream {
    device: Arc<Device>,
}

impl Stream {
    /// # Safety
    /// The raw stream must outlive the value and belong to `device`.
    pub unsafe fn borrow_raw(_raw: *mut c_void, device: &Arc<Device>) -> Arc<Self> {
        Arc::new(Stream { device: device.clone() })
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

pub trait DType: Copy + Send + Sync + 'static {}

impl DType for f64 {}
impl DType for f32 {}
impl DType for i32 {}
impl DType for i64 {}
impl DType for u8 {}

/// Stands in for the `half` crate, which the real workspace shares between its members.
pub mod half {
    #[allow(non_camel_case_types)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct f16(pub u16);
    #[allow(non_camel_case_types)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct bf16(pub u16);
    impl crate::DType for f16 {}
    impl crate::DType for bf16 {}
}
