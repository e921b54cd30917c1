struct PlotFigures: Sendable {
    struct Point: Sendable {
        /// In nines: 1 for 90 %, 2 for 99 %.
        let nines: Double
        let latency: Double
    }

    struct Second: Sendable {
        /// Seconds from the beginning.
        let begin: Double
        let end: Double
        let answered: Int
        let failed: Int
        let median: Double
        let p99: Double
    }

    let title: String
    let subtitle: String
    /// What limited the load, one line each; empty if nothing did.
    let remarks: [String]
    /// Names and values for the row above the panels.
    let tiles: [(name: String, value: String, hint: String)]
    /// The percentiles, as many as the number of messages can distinguish.
    let distribution: [Point]
    let seconds: [Second]
    /// The requested rate, in messages a second.
    let target: Double?
}
