//! Stub of `cutile`: borrowed tensors, compile options and the launch builder.

pub use cuda_core::half;
pub use cutile_macro::{entry, module};

pub mod tensor {
    use cuda_core::DType;
    use std::marker::PhantomData;

    #[derive(Debug)]
    pub struct Tensor<T: DType> {
        shape: Vec<i32>,
        element: PhantomData<T>,
    }

    impl<T: DType> Tensor<T> {
        /// # Safety
        /// Takes ownership of the allocation at `address`.
        pub unsafe fn from_raw_parts(
            _address: u64,
            _len_bytes: usize,
            _device_id: usize,
            shape: Vec<i32>,
            _strides: Vec<i32>,
        ) -> Self {
            Tensor { shape, element: PhantomData }
        }

        pub fn shape(&self) -> &[i32] {
            &self.shape
        }
    }
}

pub mod tile_kernel {
    use cuda_async::device_operation::DeviceOp;
    use cuda_async::error::DeviceError;
    use cuda_core::Stream;
    use std::sync::Arc;

    #[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
    pub struct CompileOptions {
        pub occupancy: Option<i32>,
        pub num_cta_in_cga: Option<i32>,
        pub max_divisibility: Option<i32>,
    }

    impl CompileOptions {
        pub fn occupancy(mut self, blocks: i32) -> Self {
            self.occupancy = Some(blocks);
            self
        }

        pub fn num_cta_in_cga(mut self, blocks: i32) -> Self {
            self.num_cta_in_cga = Some(blocks);
            self
        }

        pub fn max_divisibility(mut self, bytes: i32) -> Self {
            self.max_divisibility = Some(bytes);
            self
        }
    }

    /// The launch chain; the methods come from the trait, so an `ffi.rs` must import it, as with the real crate.
    pub trait TileKernel: DeviceOp {
        fn generics(self, generics: Vec<String>) -> Self;
        fn const_grid(self, grid: (u32, u32, u32)) -> Self;
        fn grid(self, grid: (u32, u32, u32)) -> Self;
        fn compile_options(self, options: CompileOptions) -> Self;
    }

    /// What every entry function of a stubbed device module returns.
    #[derive(Debug, Default)]
    pub struct Launch {
        generics: Vec<String>,
        grid: (u32, u32, u32),
        options: CompileOptions,
    }

    impl DeviceOp for Launch {
        type Output = ();

        fn sync(self) -> Result<(), DeviceError> {
            Ok(())
        }

        unsafe fn async_on(self, _stream: &Arc<Stream>) -> Result<(), DeviceError> {
            Ok(())
        }

        fn sync_on(self, _stream: &Arc<Stream>) -> Result<(), DeviceError> {
            Ok(())
        }
    }

    impl TileKernel for Launch {
        fn generics(mut self, generics: Vec<String>) -> Self {
            self.generics = generics;
            self
        }

        fn const_grid(self, grid: (u32, u32, u32)) -> Self {
            self.grid(grid)
        }

        fn grid(mut self, grid: (u32, u32, u32)) -> Self {
            self.grid = grid;
            self
        }

        fn compile_options(mut self, options: CompileOptions) -> Self {
            self.options = options;
            self
        }
    }
}

pub mod prelude {
    pub use crate::tensor::Tensor;
    pub use crate::tile_kernel::TileKernel;
    pub use cuda_async::prelude::*;
    pub use cuda_core::{DType, Device};
    pub use std::sync::Arc;
}
