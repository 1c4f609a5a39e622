//! Values that are images: shown as they are, if they are small.

use crate::units;

/// Images of more bytes are named only.
const MOST_BYTES: usize = 48 << 10;
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

    /// The image that bytes are. `room` is what the page has left.
    pub fn of(bytes: &[u8], room: &mut usize) -> Option<Self> {
        let (name, mime) = match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => ("PNG", "image/png"),
            [0xff, 0xd8, 0xff, ..] => ("JPEG", "image/jpeg"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
                ("WebP", "image/webp")
            }
            _ => return None,
        };
        let about = format!("{name} image, {}", units::bytes(bytes.len() as u64));
        let fits = bytes.len() <= MOST_BYTES && bytes.len() <= *room;
        let data = fits.then(|| format!("data:{mime};base64,{}", base64(bytes)));
        *room -= if fits { bytes.len() } else { 0 };
        Some(Self { about, data })
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

    #[test]
    fn images_are_known_by_their_first_bytes() {
        let mut room = 100;
        let jpeg = Image::of(&[0xff, 0xd8, 0xff, 0xe0], &mut room).unwrap();
        assert_eq!(jpeg.data.as_deref(), Some("data:image/jpeg;base64,/9j/4A=="));
        assert_eq!((jpeg.about.as_str(), room), ("JPEG image, 4 B", 96));
        assert!(Image::of(b"<svg onload=alert(1)>", &mut room).is_none());
        let mut large = b"RIFF....WEBP".to_vec();
        large.resize(200, 0);
        assert_eq!(Image::of(&large, &mut room).unwrap().data, None);
        assert_eq!(room, 96);
    }
}
