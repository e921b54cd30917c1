import Schemas

/// The uses of credentials that the people service does not know yet: the latest of each. Pure.
struct CredentialUses: Sendable {
    /// Beyond this number of credentials no further ones are kept, for example while the people service is away.
    static let maxKept = 100_000

    private var uses: [CredentialHash: ReportUses.Use] = [:]

    mutating func add(_ use: ReportUses.Use) {
        guard uses.count < Self.maxKept || uses[use.hash] != nil else { return }
        uses[use.hash] = use
    }

    /// Takes some of them for a report.
    mutating func take() -> [ReportUses.Use] {
        let taken = uses.values.prefix(PeopleLimits.maxUses)
        for use in taken { uses[use.hash] = nil }
        return Array(taken)
    }

    /// A report has failed. Later uses of the same credentials count.
    mutating func putBack(_ taken: [ReportUses.Use]) {
        for use in taken where uses[use.hash] == nil { add(use) }
    }
}
