import CommandBus
import Schemas
import Synchronization
import Time

extension Credentials {
    /// The end of a copy is postponed in steps of this.
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
