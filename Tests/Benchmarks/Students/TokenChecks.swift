import Crypto
import DeviceTokens
import Schemas
import TestSupport

/// What the check of a device's token costs.
struct TokenChecks {
    struct Figures: Encodable {
        /// Microseconds of a check whose token was not seen before: its signature. In this process.
        let first: Double
        /// Microseconds of the gateway's processor time that a request with a token takes longer than one that has the same text in a
        /// field that nobody reads: its hash, the look-up of the verified token, and the fields of the answer about the account's limit.
        let remembered: Double
    }

    let scale: Scale
    /// The folder for the scripts.
    let folder: String

    private var checks: Int { scale.pick(5_000, smoke: 20) }
    private var rounds: Int { scale.pick(5, smoke: 1) }
    /// The gateway answers it by itself.
    private static let path = "/problems/not-found"

    /// - Parameter token: That of a device.
    func measure(_ token: Secret, at port: Int, gateway: Int32) async throws -> Figures {
        var differences: [Double] = []
        for _ in 0..<rounds {
            let without = try await processorTime(of: gateway, at: port, headers: ["X-Unread": "Bearer \(token.text)"])
            let with = try await processorTime(of: gateway, at: port, headers: ["Authorization": "Bearer \(token.text)"])
            differences.append(with - without)
        }
        return Figures(first: try first().twoDigits, remembered: differences.median.twoDigits)
    }

    private func first() throws -> Double {
        let key = P256.Signing.PrivateKey()
        guard let account = AccountName("ann") else { throw PeerFailure(description: "ann is no name of an account") }
        let claims = DeviceTokenClaims(account: account, device: ObjectID(), role: .student, professor: false, issued: .now)
        let token = try DeviceToken.signed(claims, by: key, id: "k").text
        let keys = ["k": key.publicKey]
        let begin = ContinuousClock.now
        for _ in 0..<checks {
            try DeviceToken.claims(of: token, keys: keys).check(at: .now, isOffline: false)
        }
        return (ContinuousClock.now - begin) / .microseconds(1) / Double(checks)
    }

    /// The gateway's microseconds for a request.
    private func processorTime(of gateway: Int32, at port: Int, headers: [String: String]) async throws -> Double {
        let wrk = Wrk(scale: scale, folder: folder)
        let before = try ProcessUsage(of: gateway).processorTime
        let figures = try await wrk.run(port, Self.path, headers: headers)
        let used = try ProcessUsage(of: gateway).processorTime - before
        return used * 1e6 / max(1, figures.rate * Double(wrk.seconds))
    }
}
