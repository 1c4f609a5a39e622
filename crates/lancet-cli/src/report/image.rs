//! Values that are images: shown as they are, if they are small.
//!
//! Few bytes can be very many pixels, which a browser would unpack: how many there are stands near the beginning of each
//! format, and an image that does not tell is not shown.

use crate::units;

/// Images of more bytes are named only.
pub const MOST_BYTES: usize = 48 << 10;
/// Images of more pixels are named only.
const MOST_PIXELS: u64 = 16_000_000;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// An image.
#[derive(Debug, PartialEq, Eq)]
pub struct Image {
    /// What it is, with its size.
    pub about: String,
    /// Its bytes for a page; none if they are too many.
    pub data: Option<String>,
}

impl Image {
    /// Bytes that all images of a report may have.
    pub const ROOM: usize = 256 << 10;

    /// The image that bytes are, all of them or the first of `len`. `room` is what the page has left.
    pub fn of(bytes: &[u8], len: u64, room: &mut usize) -> Option<Self> {
        let kind = Kind::of(bytes)?;
        let pixels = kind.pixels(bytes).filter(|(width, height)| *width > 0 && *height > 0);
        let (name, mime) = kind.names();
        let about = match pixels {
            Some((width, height)) => {
                format!("{name} image, {width} × {height}, {}", units::bytes(len))
            }
            None => format!("{name} image, {}", units::bytes(len)),
        };
        let is_small = pixels.is_some_and(|(w, h)| u64::from(w) * u64::from(h) <= MOST_PIXELS);
        let is_whole = bytes.len() as u64 == len;
        let fits = is_small && is_whole && bytes.len() <= MOST_BYTES.min(*room);
        let data = fits.then(|| format!("data:{mime};base64,{}", base64(bytes)));
        *room -= if fits { bytes.len() } else { 0 };
        Some(Self { about, data })
    }
}

/// Formats that all browsers show.
#[derive(Clone, Copy)]
enum Kind {
    Png,
    Jpeg,
    WebP,
}

impl Kind {
    /// The format, by the first bytes.
    fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            _ => None,
        }
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Png => ("PNG", "image/png"),
            Self::Jpeg => ("JPEG", "image/jpeg"),
            Self::WebP => ("WebP", "image/webp"),
        }
    }

    /// Width and height.
    fn pixels(self, bytes: &[u8]) -> Option<(u32, u32)> {
        match self {
            Self::Png => match bytes.get(12..24)? {
                [b'I', b'H', b'D', b'R', a, b, c, d, e, f, g, h] => Some((
                    u32::from_be_bytes([*a, *b, *c, *d]),
                    u32::from_be_bytes([*e, *f, *g, *h]),
                )),
                _ => None,
            },
            Self::Jpeg => jpeg_pixels(bytes.get(2..)?),
            Self::WebP => webp_pixels(bytes.get(12..)?),
        }
    }
}

/// The start of the frame comes behind other segments, each of which says how long it is.
fn jpeg_pixels(mut segments: &[u8]) -> Option<(u32, u32)> {
    loop {
        match segments {
            // Any number of these may stand before a marker.
            [0xff, 0xff, ..] => segments = segments.get(1..)?,
            // Starts of frames; among their numbers are tables of codes, extensions and conditions of codes.
            [
                0xff,
                0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf,
                _,
                _,
                _,
                a,
                b,
                c,
                d,
                ..,
            ] => {
                let [height, width] = [[*a, *b], [*c, *d]].map(u16::from_be_bytes);
                return Some((width.into(), height.into()));
            }
            // Those without a length.
            [0xff, 0x01 | 0xd0..=0xd7, ..] => segments = segments.get(2..)?,
            // The rows begin, or the image ends: no frame was before that.
            [0xff, 0xd8..=0xda, ..] => return None,
            [0xff, _, a, b, ..] => {
                let len = usize::from(u16::from_be_bytes([*a, *b]));
                segments = segments.get(len.checked_add(2)?..)?;
            }
            _ => return None,
        }
    }
}

/// The first chunk of a WebP is of one of three kinds.
fn webp_pixels(chunk: &[u8]) -> Option<(u32, u32)> {
    let data = chunk.get(8..)?;
    match (chunk.get(..4)?, data) {
        // Three bytes of flags, a code, and 14 bits each.
        (b"VP8 ", [_, _, _, 0x9d, 0x01, 0x2a, a, b, c, d, ..]) => {
            let [width, height] = [[*a, *b], [*c, *d]].map(u16::from_le_bytes);
            Some((u32::from(width & 0x3fff), u32::from(height & 0x3fff)))
        }
        // 14 bits each, less 1.
        (b"VP8L", [0x2f, a, b, c, d, ..]) => {
            let bits = u32::from_le_bytes([*a, *b, *c, *d]);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        // Flags, and 24 bits each, less 1.
        (b"VP8X", [_, _, _, _, a, b, c, d, e, f, ..]) => {
            let [width, height] = [[*a, *b, *c, 0], [*d, *e, *f, 0]].map(u32::from_le_bytes);
            Some((width + 1, height + 1))
        }
        _ => None,
    }
}

/// Bytes as text: six bits a character.
pub fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let six = (word >> (18 - 6 * at)) & 63;
            let letter = ALPHABET.get(six as usize).copied().unwrap_or(b'A');
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_others_have_it() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    fn png(width: u32, height: u32) -> Vec<u8> {
        let [width, height] = [width, height].map(u32::to_be_bytes);
        [b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".as_slice(), &width, &height].concat()
    }

    fn of(bytes: &[u8], room: &mut usize) -> Option<Image> {
        Image::of(bytes, bytes.len() as u64, room)
    }

    #[test]
    fn images_are_known_by_their_first_bytes() {
        let mut room = 100;
        let found = of(&png(3, 2), &mut room).unwrap();
        assert!(found.data.unwrap().starts_with("data:image/png;base64,iVBOR"));
        assert_eq!((found.about.as_str(), room), ("PNG image, 3 × 2, 24 B", 76));
        assert!(of(b"<svg onload=alert(1)>", &mut room).is_none());
        let mut large = png(3, 2);
        large.resize(200, 0);
        assert_eq!(of(&large, &mut room).unwrap().data, None, "no room is left for it");
        let begun = Image::of(&png(3, 2)[..16], 20_000_000, &mut room).unwrap();
        assert_eq!((begun.about.as_str(), begun.data), ("PNG image, 20.0 MB", None));
        assert_eq!(room, 76);
    }

    /// A few bytes that would be gigabytes in a browser.
    #[test]
    fn images_of_very_many_pixels_are_named_only() {
        let mut room = Image::ROOM;
        for (width, height, is_shown) in
            [(4_000, 4_000, true), (4_001, 4_000, false), (30_000, 30_000, false), (0, 9, false)]
        {
            let found = of(&png(width, height), &mut room).unwrap();
            assert_eq!(found.data.is_some(), is_shown, "{width} × {height}");
        }
        assert_eq!(of(&png(u32::MAX, u32::MAX), &mut room).unwrap().data, None);
        assert_eq!(of(b"\x89PNG\r\n\x1a\nxx", &mut room).unwrap().data, None, "nobody knows");
    }

    #[test]
    fn pixels_of_all_formats() {
        let jpeg =
            b"\xff\xd8\xff\xe0\0\x04..\xff\xff\xc4\0\x02\xff\xc2\0\x11\x08\x01\0\x02\x03\x03";
        assert_eq!(Kind::Jpeg.pixels(jpeg), Some((0x203, 0x100)));
        let webp = |chunk: &[u8]| [b"RIFF....WEBP".as_slice(), chunk].concat();
        let lossy = webp(b"VP8 ....\x10\0\0\x9d\x01\x2a\x80\x42\xe0\x01");
        assert_eq!(Kind::WebP.pixels(&lossy), Some((0x280, 0x1e0)));
        let bits = ((640 - 1_u32) | (480 - 1) << 14).to_le_bytes();
        let lossless = webp(&[b"VP8L....\x2f".as_slice(), &bits].concat());
        assert_eq!(Kind::WebP.pixels(&lossless), Some((640, 480)));
        let extended = webp(b"VP8X....\0\0\0\0\x7f\x02\0\xdf\x01\0");
        assert_eq!(Kind::WebP.pixels(&extended), Some((640, 480)));
        // None of them goes on for ever, or past the end.
        for (kind, bytes) in
            [(Kind::Jpeg, jpeg.as_slice()), (Kind::WebP, &lossy), (Kind::WebP, &extended)]
        {
            for len in 0..bytes.len() {
                kind.pixels(&bytes[..len]);
            }
        }
        assert_eq!(Kind::Jpeg.pixels(b"\xff\xd8\xff\xda\0\x02"), None);
        assert_eq!(Kind::Jpeg.pixels(b"\xff\xd8\xff\xe0\0\0\xff\xe0\0\0"), None);
    }
}
