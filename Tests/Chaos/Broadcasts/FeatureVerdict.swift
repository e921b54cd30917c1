import TestSupport

/// Whether a feature is on for the same share of the phones all the time: by the first switch, by later ones, and after restarts of the
/// services and of the phones' app. Pure.
struct FeatureVerdict: Sendable {
    private(set) var problems: [String] = []

    /// With fewer phones it may be on for all of them or for none by chance.
    private static let minPhones = 20

    /// - Parameter sent: The broadcasts, by the answers to the communicator.
    init(_ evidence: PhoneEvidence, sent: [SentBroadcast]) {
        guard let report = evidence.report else { return }
        let switches = Set(sent.lazy.filter { $0.kind == .featureSwitch }.map(\.id))
        guard !switches.isEmpty else { return }
        let all = report.features[SentBroadcast.feature] ?? []
        let steady = all.filter { $0 >= evidence.unsteady }
        let during = report.arrivals.drop { !switches.contains($0.broadcast) }.map { $0.features[SentBroadcast.feature] ?? [] }
        if during.isEmpty { problems.append("no switch of the feature has reached each steady phone") }
        if let other = during.first(where: { $0 != steady }) {
            problems.append("the feature was on for the phones \(other) during the run, and for \(steady) at its end")
        }
        if evidence.phones >= Self.minPhones, all.isEmpty || all.count == evidence.phones {
            problems.append("the feature is on for \(all.count) of \(evidence.phones) phones, expected a share")
        }
    }
}
