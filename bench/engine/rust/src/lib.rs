// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Rust peers of bench-engine as C functions: what store_rust.c puts into
//! its table of stores. A get copies the value into the caller's buffer, as
//! every lane does; crossing from C costs a plain call.
//!
//! Pointers come from our own C code and are valid for their sizes.
use std::ffi::{c_char, c_void, CStr};
use std::slice;

/// # Safety
/// `data` points at `size` bytes.
unsafe fn bytes<'a>(data: *const u8, size: usize) -> &'a [u8] {
    slice::from_raw_parts(data, size)
}

/// Copies a value out: its size, or -1 when there is none or no room.
///
/// # Safety
/// `out` points at `capacity` bytes.
unsafe fn give(value: Option<Vec<u8>>, out: *mut u8, capacity: usize) -> isize {
    match value {
        Some(value) if value.len() <= capacity => {
            std::ptr::copy_nonoverlapping(value.as_ptr(), out, value.len());
            value.len() as isize
        }
        _ => -1,
    }
}

fn handle_of<T>(opened: Option<T>) -> *mut c_void {
    opened.map_or(std::ptr::null_mut(), |store| Box::into_raw(Box::new(store)) as *mut c_void)
}

#[cfg(feature = "kevy")]
mod kevy {
    use super::*;
    use kevy_embedded::{AppendFsync, Config, Store};

    /// # Safety
    /// `dir` is a C string. `mode`: 0 memory, 1 each second, 2 always.
    #[no_mangle]
    pub unsafe extern "C" fn bench_kevy_open(dir: *const c_char, mode: i32) -> *mut c_void {
        let config = if mode == 0 {
            Config::default().without_aof()
        } else {
            let fsync = if mode == 2 { AppendFsync::Always } else { AppendFsync::EverySec };
            let dir = CStr::from_ptr(dir).to_string_lossy().into_owned();
            Config::default().with_persist(dir).with_appendfsync(fsync)
        };
        handle_of(Store::open(config).ok())
    }

    /// # Safety
    /// `handle` comes from bench_kevy_open and is not used again.
    #[no_mangle]
    pub unsafe extern "C" fn bench_kevy_close(handle: *mut c_void) {
        drop(Box::from_raw(handle as *mut Store));
    }

    /// # Safety
    /// `handle` is open, pointers have their sizes.
    #[no_mangle]
    pub unsafe extern "C" fn bench_kevy_set(
        handle: *mut c_void, key: *const u8, key_size: usize, value: *const u8, size: usize,
    ) -> i32 {
        let store = &*(handle as *const Store);
        store.set(bytes(key, key_size), bytes(value, size)).map_or(-1, |_| 0)
    }

    /// # Safety
    /// `handle` is open, pointers have their sizes.
    #[no_mangle]
    pub unsafe extern "C" fn bench_kevy_get(
        handle: *mut c_void, key: *const u8, key_size: usize, out: *mut u8, capacity: usize,
    ) -> isize {
        let store = &*(handle as *const Store);
        give(store.get(bytes(key, key_size)).ok().flatten(), out, capacity)
    }
}

#[cfg(feature = "mmkv")]
mod mmkv_peer {
    use super::*;
    use mmkv::{LogLevel, MMKV};

    unsafe fn name<'a>(key: *const u8, key_size: usize) -> &'a str {
        std::str::from_utf8(bytes(key, key_size)).unwrap_or("")
    }

    /// # Safety
    /// `dir` is a C string.
    #[no_mangle]
    pub unsafe extern "C" fn bench_mmkv_open(dir: *const c_char, _mode: i32) -> *mut c_void {
        MMKV::set_log_level(LogLevel::Error);
        handle_of(CStr::from_ptr(dir).to_str().ok().and_then(|dir| MMKV::new(dir).ok()))
    }

    /// # Safety
    /// `handle` comes from bench_mmkv_open and is not used again.
    #[no_mangle]
    pub unsafe extern "C" fn bench_mmkv_close(handle: *mut c_void) {
        drop(Box::from_raw(handle as *mut MMKV));
    }

    /// # Safety
    /// `handle` is open, pointers have their sizes.
    #[no_mangle]
    pub unsafe extern "C" fn bench_mmkv_set(
        handle: *mut c_void, key: *const u8, key_size: usize, value: *const u8, size: usize,
    ) -> i32 {
        let store = &*(handle as *const MMKV);
        store.put(name(key, key_size), bytes(value, size)).map_or(-1, |_| 0)
    }

    /// # Safety
    /// `handle` is open, pointers have their sizes.
    #[no_mangle]
    pub unsafe extern "C" fn bench_mmkv_get(
        handle: *mut c_void, key: *const u8, key_size: usize, out: *mut u8, capacity: usize,
    ) -> isize {
        let store = &*(handle as *const MMKV);
        give(store.get::<Vec<u8>>(name(key, key_size)).ok(), out, capacity)
    }
}
