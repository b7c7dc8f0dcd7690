// What the exports of this suite share: the tensor descriptor and how a tensor is borrowed.
// Return codes: 0 ok, -2 dtype, -3 launch, -4 device, -5 null, -6 arguments.

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

/// # Safety
/// The descriptor's memory holds elements of type `E` and outlives the launch.
pub unsafe fn borrow_tensor<E: DType>(desc: &TensorDesc) -> ManuallyDrop<Tensor<E>> {
    let shape = desc.leading(&desc.shape);
    let strides = desc.leading(&desc.strides);
    ManuallyDrop::new(unsafe { Tensor::<E>::from_raw_parts(desc.ptr, desc.bytes(), 0, shape, strides) })
}
