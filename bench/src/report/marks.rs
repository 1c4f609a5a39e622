//! The marks of the chart: a shape and a colour for each outcome, so that those who see few colours, and prints without
//! any, tell them apart.

/// Nearer to 1 than this, two figures are the same.
const EVEN: f64 = 1.05;

/// How lancet does beside the best of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Better,
    Even,
    Worse,
}

impl Outcome {
    /// What the best of the others takes, in multiples of what lancet takes.
    pub fn of(ratio: f64) -> Self {
        match ratio {
            ratio if ratio > EVEN => Self::Better,
            ratio if ratio < 1.0 / EVEN => Self::Worse,
            _ => Self::Even,
        }
    }

    /// The class that has its colour, on light and on dark paper.
    pub fn class(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Even => "same",
            Self::Worse => "worse",
        }
    }

    /// The mark around a point: a disc, a ring, a diamond.
    pub fn mark(self, x: f64, y: f64) -> String {
        let class = self.class();
        match self {
            Self::Better => {
                format!(r#"<circle class="{class} mark" cx="{x:.1}" cy="{y:.1}" r="4.6"/>"#)
            }
            Self::Even => format!(r#"<circle class="ring" cx="{x:.1}" cy="{y:.1}" r="3.9"/>"#),
            Self::Worse => {
                polygon(class, x, y, &[(0.0, -5.8), (5.8, 0.0), (0.0, 5.8), (-5.8, 0.0)])
            }
        }
    }

    /// An arrow whose tip is at a point, for a figure beyond the edge there.
    pub fn arrow(self, x: f64, y: f64) -> String {
        let back = if self == Self::Worse { 9.0 } else { -9.0 };
        polygon(self.class(), x, y, &[(0.0, 0.0), (back, -5.5), (back, 5.5)])
    }
}

fn polygon(class: &str, x: f64, y: f64, corners: &[(f64, f64)]) -> String {
    let corner = |(dx, dy): &(f64, f64)| format!("{:.1},{:.1}", x + dx, y + dy);
    let points: Vec<String> = corners.iter().map(corner).collect();
    format!(r#"<polygon class="{class} mark" points="{}"/>"#, points.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_the_same_is_no_win() {
        let outcomes = [0.5, 0.94, 0.96, 1.0, 1.04, 1.06].map(Outcome::of);
        let [worse, even, better] = [Outcome::Worse, Outcome::Even, Outcome::Better];
        assert_eq!(outcomes, [worse, worse, even, even, even, better]);
    }

    #[test]
    fn no_two_look_alike() {
        let marks = [Outcome::Better, Outcome::Even, Outcome::Worse].map(|o| o.mark(0.0, 0.0));
        assert!(marks[0] != marks[1] && marks[1] != marks[2] && marks[0] != marks[2]);
    }
}
