//! How contenders look in a chart: a colour and a shape each, so that those who see few colours, and
//! prints without any, tell them apart.

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    Circle,
    /// Larger than the circle: around it where two values are the same.
    Ring,
    Square,
    Diamond,
    Triangle,
    Cross,
}

/// A contender beside lancet.
#[derive(Debug)]
pub struct Look {
    /// The name in the results.
    pub name: &'static str,
    /// What it is, for those who do not know the benchmark.
    pub title: &'static str,
    pub colour: &'static str,
    pub shape: Shape,
}

/// In the order of the legend; later ones are drawn below, wide shapes below thin ones. The colours are those of Okabe and Ito.
pub const LOOKS: [Look; 6] = [
    look("lance-2.2", "lance-file 2.2", "#d55e00", Shape::Circle),
    look("lance-2.1", "lance-file 2.1", "#e69f00", Shape::Ring),
    look("vortex", "Vortex", "#cc79a7", Shape::Cross),
    look("pq-pages", "Parquet small pages", "#009e73", Shape::Triangle),
    look("pq-zstd", "Parquet zstd", "#0072b2", Shape::Diamond),
    look("pq-snappy", "Parquet snappy", "#56b4e9", Shape::Square),
];

const fn look(name: &'static str, title: &'static str, colour: &'static str, shape: Shape) -> Look {
    Look { name, title, colour, shape }
}

impl Look {
    /// The mark around a point. What lies below shows a rim of the paper.
    pub fn mark(&self, x: f64, y: f64) -> String {
        let colour = self.colour;
        match self.shape {
            Shape::Circle => {
                format!(r#"<circle class="mark" cx="{x:.1}" cy="{y:.1}" r="3.6" fill="{colour}"/>"#)
            }
            Shape::Ring => format!(
                r#"<circle cx="{x:.1}" cy="{y:.1}" r="4.8" fill="none" stroke="{colour}" stroke-width="2"/>"#
            ),
            Shape::Square => {
                polygon(colour, x, y, &[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)])
            }
            Shape::Diamond => {
                polygon(colour, x, y, &[(0.0, -5.2), (5.2, 0.0), (0.0, 5.2), (-5.2, 0.0)])
            }
            Shape::Triangle => polygon(colour, x, y, &[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)]),
            Shape::Cross => {
                let (left, right, top, bottom) = (x - 3.8, x + 3.8, y - 3.8, y + 3.8);
                format!(
                    r#"<path d="M{left:.1} {top:.1}L{right:.1} {bottom:.1}M{left:.1} {bottom:.1}L{right:.1} {top:.1}" stroke="{colour}" stroke-width="2.6"/>"#
                )
            }
        }
    }

    /// An arrow whose tip is at a point, for a value beyond the edge there.
    pub fn arrow(&self, x: f64, y: f64, to_the_right: bool) -> String {
        let back = if to_the_right { -7.0 } else { 7.0 };
        polygon(self.colour, x, y, &[(0.0, 0.0), (back, -4.6), (back, 4.6)])
    }
}

fn polygon(colour: &str, x: f64, y: f64, corners: &[(f64, f64)]) -> String {
    let corner = |(dx, dy): &(f64, f64)| format!("{:.1},{:.1}", x + dx, y + dy);
    let points: Vec<String> = corners.iter().map(corner).collect();
    format!(r#"<polygon class="mark" points="{}" fill="{colour}"/>"#, points.join(" "))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_look_alike() {
        let colours: HashSet<&str> = LOOKS.iter().map(|look| look.colour).collect();
        assert_eq!(colours.len(), LOOKS.len());
        for (i, look) in LOOKS.iter().enumerate() {
            assert!(LOOKS.iter().skip(i + 1).all(|other| other.shape != look.shape));
        }
    }
}
