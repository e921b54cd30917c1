extension Array where Element: BinaryFloatingPoint {
    /// The middle value; of an even number of values, the upper one of the two. Machines are noisy, and one bad run says
    /// nothing.
    var median: Element {
        sorted()[count / 2]
    }
}
