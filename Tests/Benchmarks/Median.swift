extension Array where Element: BinaryFloatingPoint {
    /// The median; of an even number of values, the upper one of the two middle ones. It is robust against single slow runs.
    var median: Element {
        sorted()[count / 2]
    }
}
