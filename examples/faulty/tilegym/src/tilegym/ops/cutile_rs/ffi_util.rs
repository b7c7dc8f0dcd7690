// What every export of this crate shares: the descriptor that crosses the C boundary, element types, return codes,
// and macros for the steps that all exports have in common.

use core::fmt::Debug;
use core::mem::ManuallyDrop;
use cutile::prelude::*;

/// Ranks a descriptor can carry; the Python typedef has the same bound.
pub const MAX_DIMS: usize = 5;

/// A device tensor as Python describes it. Strides count elements; entries at `ndim` and beyond mean nothing.
#[repr(C)]
pub struct TensorDesc {
    pub ptr: u64,
    pub ndim: i32,
    pub shape: [i64; MAX_DIMS],
    pub strides: [i64; MAX_DIMS],
    /// 0 f32, 1 f16, 2 bf16, 3 i32, 4 i64, 5 f8e5m2, 6 f4e2m1fnx2, 7 f8e4m3fn
    pub dtype: i32,
}

impl TensorDesc {
    /// Extent of one dimension, as the kernels count.
    pub fn dim(&self, axis: usize) -> i32 {
        self.shape[axis] as i32
    }

    fn rank(&self) -> usize {
        (self.ndim.max(0) as usize).min(MAX_DIMS)
    }

    /// Bytes from the first to the last element of a contiguous tensor.
    pub fn nbytes(&self) -> usize {
        let count: i64 = self.shape.iter().take(self.rank()).product();
        count as usize * element_bytes(self.dtype)
    }
}

/// The cutile name of an element type code.
pub fn dtype_str(code: i32) -> Option<&'static str> {
    let name = match code {
        0 => "f32",
        1 => "f16",
        2 => "bf16",
        3 => "i32",
        4 => "i64",
        5 => "f8e5m2",
        6 => "f4e2m1fnx2",
        7 => "f8e4m3fn",
        _ => return None,
    };
    Some(name)
}

/// Size of one element; 0 for an unknown code.
pub fn element_bytes(code: i32) -> usize {
    match code {
        4 => 8,
        0 | 3 => 4,
        1 | 2 => 2,
        5 | 6 | 7 => 1,
        _ => 0,
    }
}

/// Return codes. -1 is missing on purpose: it is the sentinel of compile options.
pub mod rc {
    pub const OK: i32 = 0;
    pub const UNSUPPORTED_DTYPE: i32 = -2;
    pub const LAUNCH_FAILED: i32 = -3;
    pub const DEVICE_INIT_FAILED: i32 = -4;
    pub const NULL_PTR: i32 = -5;
    pub const INVALID_ARGS: i32 = -6;
}

/// A tensor over memory that PyTorch owns.
///
/// # Safety
/// `desc` must describe a live allocation of `E` elements that outlives the launch.
pub unsafe fn borrow_tensor<E: DType>(desc: &TensorDesc) -> ManuallyDrop<Tensor<E>> {
    let shape = desc.shape.iter().take(desc.rank()).map(|n| *n as i32).collect();
    let strides = desc.strides.iter().take(desc.rank()).map(|n| *n as i32).collect();
    ManuallyDrop::new(unsafe { Tensor::<E>::from_raw_parts(desc.ptr, desc.nbytes(), 0, shape, strides) })
}

/// The return code of a finished launch; a failure is told on standard error.
pub fn outcome<T, E: Debug>(export: &str, result: Result<T, E>) -> i32 {
    match result {
        Ok(_) => rc::OK,
        Err(error) => {
            eprintln!("{export}: launch failed: {error:?}");
            rc::LAUNCH_FAILED
        }
    }
}

/// Refuse null descriptors; then each name stands for the descriptor itself.
#[macro_export]
macro_rules! lend_descs {
    ($($desc:ident),+ $(,)?) => {
        $( if $desc.is_null() { return $crate::ffi_util::rc::NULL_PTR; } )+
        $( let $desc: &$crate::ffi_util::TensorDesc = unsafe { &*$desc }; )+
    };
}

/// The element type name of a descriptor, or leave the export.
#[macro_export]
macro_rules! element_name {
    ($desc:expr) => {
        match $crate::ffi_util::dtype_str($desc.dtype) {
            Some(name) => name,
            None => return $crate::ffi_util::rc::UNSUPPORTED_DTYPE,
        }
    };
}

/// Bind `$stream` to the caller's stream on the caller's device, or leave the export.
#[macro_export]
macro_rules! caller_stream {
    ($stream:ident, $device_id:expr, $raw_stream:expr) => {
        let device = match usize::try_from($device_id).ok().map(cuda_core::Device::new) {
            Some(Ok(device)) => device,
            _ => {
                eprintln!("cutile-rs: cannot open device {}", $device_id);
                return $crate::ffi_util::rc::DEVICE_INIT_FAILED;
            }
        };
        let $stream = unsafe { cuda_core::Stream::borrow_raw($raw_stream as *mut core::ffi::c_void, &device) };
    };
}

/// Compile options from the two integers of an export; values below 1 leave the choice to the compiler.
#[macro_export]
macro_rules! launch_options {
    ($num_cta_in_cga:expr, $occupancy:expr) => {{
        let mut options = cutile::tile_kernel::CompileOptions::default();
        options = options.num_cta_in_cga($num_cta_in_cga);
        if $occupancy > 0 {
            options = options.occupancy($occupancy);
        }
        options
    }};
}

/// Run `$run!(<type>)` for the element type called `$name`.
#[macro_export]
macro_rules! by_element {
    ($name:expr, $run:ident, $($element:ident),+ $(,)?) => {
        match $name {
            $( stringify!($element) => $run!($element), )+
            _ => $crate::ffi_util::rc::UNSUPPORTED_DTYPE,
        }
    };
}
