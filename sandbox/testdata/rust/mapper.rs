//! Costs by age group: of a record (age, cost) one output, the cost, under the key of
//! the group 0..24, 25..49, 50..74 or 75.. that the age is in.
#![no_std]

use core::cell::UnsafeCell;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

/// What the sandbox and a mapper share: one call runs at a time.
#[repr(C, align(8))]
struct Shared<T>(UnsafeCell<T>);
unsafe impl<T> Sync for Shared<T> {}

#[repr(C)]
#[derive(Clone, Copy)]
struct Cell {
    value: u64, // an i64, the bits of an f64, or a text's offset and length
    present: u32,
    unused: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Output {
    value: f64,
    key: u32,
    unused: u32,
}

const CELLS: usize = 64;
static INPUT: Shared<[Cell; CELLS]> = Shared(UnsafeCell::new([Cell { value: 0, present: 0, unused: 0 }; CELLS]));
static OUTPUT: Shared<[Output; 1]> = Shared(UnsafeCell::new([Output { value: 0.0, key: 0, unused: 0 }; 1]));
static PLACES: Shared<[u32; 4]> = Shared(UnsafeCell::new([0; 4]));

#[unsafe(no_mangle)]
pub extern "C" fn discreet_buffers() -> *const u32 {
    unsafe {
        *PLACES.0.get() = [INPUT.0.get() as u32, (CELLS * 16) as u32, OUTPUT.0.get() as u32, 1];
    }
    PLACES.0.get() as *const u32
}

#[unsafe(no_mangle)]
pub extern "C" fn discreet_map(records: i32) -> i32 {
    let cells = unsafe { &*INPUT.0.get() };
    let out = unsafe { &mut *OUTPUT.0.get() };
    if records != 1 || cells[0].present == 0 || cells[1].present == 0 {
        return 0;
    }
    let group = cells[0].value as i64 / 25;
    out[0] = Output { value: f64::from_bits(cells[1].value), key: group.min(3) as u32, unused: 0 };
    1
}
