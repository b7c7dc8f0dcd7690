// What the exports of this suite share: the tensor descriptor, return codes, and the macros of the launch path.

use core::mem::ManuallyDrop;
use cutile::prelude::*;

pub const MAX_DIMS: usize = 5;

/// A device tensor that Python owns; strides in elements, entries from `ndim` on mean nothing.
#[repr(C)]
pub struct TensorDesc {
    pub ptr: u64,
    pub ndim: i32,
    pub shape: [i64; MAX_DIMS],
    pub strides: [i64; MAX_DIMS],
    pub dtype: i32,
}

impl TensorDesc {
    pub fn dim(&self, axis: usize) -> i32 {
        self.shape[axis] as i32
    }

    fn leading(&self, values: &[i64; MAX_DIMS]) -> Vec<i32> {
        let rank = self.ndim.max(0) as usize;
        values.iter().take(rank).map(|&value| value as i32).collect()
    }

    fn bytes(&self) -> usize {
        let rank = self.ndim.max(0) as usize;
        let elements: i64 = self.shape.iter().take(rank).product();
        elements as usize * dtype_elem_size(self.dtype)
    }
}

/// What an export returns. -1 is no code: it is the "auto" value of the compile options.
pub mod rc {
    pub const OK: i32 = 0;
    pub const UNSUPPORTED_DTYPE: i32 = -2;
    pub const LAUNCH_FAILED: i32 = -3;
    pub const DEVICE_INIT_FAILED: i32 = -4;
    pub const NULL_PTR: i32 = -5;
    pub const INVALID_ARGS: i32 = -6;
}

pub fn dtype_str(code: i32) -> Option<&'static str> {
    const NAMES: [(i32, &str); 3] = [(0, "f32"), (1, "f16"), (2, "bf16")];
    NAMES.iter().find(|(known, _)| *known == code).map(|(_, name)| *name)
}

pub fn dtype_elem_size(code: i32) -> usize {
    match code {
        0 => 4,
        1 | 2 => 2,
        _ => 0,
    }
}

/// References behind the descriptor pointers; a null one ends the calling export.
#[macro_export]
macro_rules! deref_descs {
    ($($desc:ident),+ $(,)?) => {{
        $(
            if $desc.is_null() {
                return $crate::ffi_util::rc::NULL_PTR;
            }
        )+
        ($(unsafe { &*$desc }),+)
    }};
}

/// The element type's name for a descriptor; an unknown code ends the calling export.
#[macro_export]
macro_rules! resolve_dtype {
    ($desc:expr) => {{
        let Some(name) = $crate::ffi_util::dtype_str($desc.dtype) else {
            return $crate::ffi_util::rc::UNSUPPORTED_DTYPE;
        };
        name
    }};
}

/// Binds a device and the caller's stream on it; a bad device ends the calling export.
#[macro_export]
macro_rules! setup_device_stream {
    ($device:ident, $stream:ident, $ordinal:expr, $raw:expr) => {
        let Ok($device) = Device::new($ordinal.max(0) as usize) else {
            return $crate::ffi_util::rc::DEVICE_INIT_FAILED;
        };
        let $stream = unsafe { Stream::borrow_raw($raw as *mut c_void, &$device) };
    };
}

/// Calls the export's own macro with the element type of that name.
#[macro_export]
macro_rules! dispatch_by_dtype {
    ($name:expr, $launch:ident, $($element:ident),+ $(,)?) => {
        match $name {
            $(stringify!($element) => $launch!($element),)+
            _ => $crate::ffi_util::rc::UNSUPPORTED_DTYPE,
        }
    };
}

/// Compile options from the caller's values; values <= 0 are left to the compiler.
#[macro_export]
macro_rules! compile_options {
    ($occupancy:expr, $num_cta_in_cga:expr) => {{
        let mut options = CompileOptions::default();
        if $num_cta_in_cga > 0 {
            options = options.num_cta_in_cga($num_cta_in_cga);
        }
        if $occupancy > 0 {
            options = options.occupancy($occupancy);
        }
        options
    }};
}

/// # Safety
/// The descriptor's memory holds elements of type `E` and outlives the launch.
pub unsafe fn borrow_tensor<E: DType>(desc: &TensorDesc) -> ManuallyDrop<Tensor<E>> {
    let shape = desc.leading(&desc.shape);
    let strides = desc.leading(&desc.strides);
    ManuallyDrop::new(unsafe { Tensor::<E>::from_raw_parts(desc.ptr, desc.bytes(), 0, shape, strides) })
}
