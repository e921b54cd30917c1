import Base
import Bus
import HTTPRouting
import HTTPTypes
import Schemas
import ServiceKit

/// A person's own data as a whole: the person takes it along, or has it erased.
struct ErasureRoutes: Feature {
    let clients: ServiceClients
    let devices: DeviceAccess

    var section: APISection {
        APISection(
            "Export and erasure",
            "A person gets what all services have of them, and has it erased. A super user erases a student. What is erased does not come back, "
                + "also not with a backup, and the account's name is never given again.")
    }

    var routes: [Route] {
        [
            exportRoute,
            Route(.post, "/user/erasure", right: .person, body: ErasureProof.self, answer: .ok(ErasureReport.self)) { call in
                let proof = try await call.body()
                let person = call.principal
                return try await erase(
                    BeginErasure(of: person.account, device: person.device, nonce: proof.nonce, proof: proof.proof), call.caller)
            }.documented(
                "Erase oneself",
                "`proof` is the device's signature for the purpose `erasure`, with the device's id as the subject and a `nonce` of "
                    + "`GET /user/challenge`. All devices end at once. The answer says what was removed and what stays; a service in "
                    + "`waiting` is asked until it has erased as well. To try again, use another nonce. Accounts of the staff are not "
                    + "erased.",
                problems: [.notFound, .conflict]),
            Route(
                .post, "/account/:account/erasure", right: .administer, confirmed: true, answer: .ok(ErasureReport.self)
            ) { call in
                try await erase(BeginErasure(of: call.account()), call.credentialedCaller)
            }.documented(
                "Erase a student",
                "As `POST /user/erasure`. Accounts of the staff are removed, not erased. While services are waiting, the request can be "
                    + "repeated, and answers with what they have done since.",
                path: ["account": AccountName.self], problems: [.notFound, .conflict]),
        ]
    }

    private func erase(_ command: BeginErasure, _ caller: CallerContext) async throws -> Answer<ErasureReport> {
        let report = try await clients[.people].request(command, context: caller)
        await devices.end(account: command.account)
        return Answer(report)
    }
}

/// The body of `POST /user/erasure`.
struct ErasureProof: Codable, Checked, Sendable {
    let nonce: Secret
    let proof: String

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case nonce, proof
    }

    func check() throws(SchemaViolation) {
        try DeviceProof.check(nonce, proof, CodingKeys.nonce, CodingKeys.proof)
    }
}
