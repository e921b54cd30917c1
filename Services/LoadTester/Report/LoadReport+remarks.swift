extension LoadReport {
    /// Below this share of the requested rate, something limited the load.
    private static let lowShare = 0.95

    /// What limited the load, one sentence each; empty if nothing did.
    var remarks: [String] {
        let named = Bottleneck.allCases.compactMap { bottleneck in
            heldBack[bottleneck].map { "by \(bottleneck.explanation), in \($0) of \(Int(lastAnswer.rounded(.up))) s" }
        }
        guard let rate, let shareOfRate, shareOfRate < Self.lowShare else { return named }
        var late: [String] = []
        if lastAnswer > seconds {
            late.append("the last answer came \(ReportTable.short(lastAnswer - seconds)) s after the last message was due")
        }
        if testerDelay > 1_000 / rate + 100 {
            late.append("at times all \(inFlight) messages of --in-flight were without an answer")
        }
        return named + late
    }
}
