import NIOHTTP1
import TestSupport

extension ServiceAccountHolder {
    /// The holder of the key file that an emulator has written.
    init(in folder: TemporaryFolder) throws {
        try self.init(file: "\(folder.emulator)/service-account.json")
    }

    /// A good access token.
    func accessToken(from client: EmulatorClient) async throws -> String {
        let answer = try await client.requestToken(assertion: try await sign(claims))
        return answer.object["access_token"] as? String ?? ""
    }
}

extension EmulatorClient {
    func requestToken(
        assertion: String?, grantType: String? = ServiceAccountHolder.grantType
    ) async throws -> HTTPAnswer {
        try await call(
            .POST, "/token", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(ServiceAccountHolder.form(assertion: assertion, grantType: grantType).utf8))
    }
}
