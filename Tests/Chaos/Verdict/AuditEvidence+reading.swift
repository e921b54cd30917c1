import AuditTrail
import Bus
import Schemas

extension AuditEvidence {
    /// Reads and verifies the whole log.
    ///
    /// - Throws: ``CommandFailure``.
    init(of people: CommandClient) async throws {
        var verification = AuditVerification()
        var (entries, fault): ([AuditEntry], String?) = ([], nil)
        var after: String?
        repeat {
            let page = try await people.request(ReadAuditChain(after: after), timeout: .seconds(30))
            entries += page.links.compactMap(\.content)
            do throws(AuditFault) {
                if fault == nil { try verification.verify(page) }
            } catch {
                fault = error.description
            }
            after = page.next
        } while after != nil
        self.init(entries: entries, fault: fault)
    }
}
