import Bus
import Schemas
import Synchronization
import Base

extension Credentials {
    /// The step by which the end of a copy is postponed.
    private static var postponement: Milliseconds { .seconds(60) }
    /// A use is reported at once if the sign-in would end within this time.
    private static var urgency: Milliseconds { .seconds(5 * 60) }

    /// A request used a credential.
    func used(_ principal: Principal, at moment: UnixMilliseconds, from address: String?) {
        uses.withLock { $0.add(.init(hash: principal.hash, at: moment, address: address ?? "unknown")) }
        guard let end = principal.credential.expires, let next = principal.credential.used(at: moment).expires,
            next - end >= Self.postponement
        else { return }
        cache.withLock { $0.used(principal.hash, at: moment) }
        if end - moment < Self.urgency { Task { await self.reportUses() } }
    }

    /// Reports the uses since the last report.
    func reportUses() async {
        while true {
            let batch = uses.withLock { $0.take() }
            guard !batch.isEmpty else { return }
            do throws(CommandFailure) {
                _ = try await people.request(ReportUses(uses: batch), timeout: .seconds(2))
            } catch {
                return uses.withLock { $0.putBack(batch) }
            }
        }
    }
}

/// The uses of credentials that the people service does not know yet: the latest of each. Pure.
struct CredentialUses: Sendable {
    /// Uses of further credentials are dropped, for example during a long outage of the people service.
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
