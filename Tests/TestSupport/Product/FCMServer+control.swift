package import Base
package import NIOHTTP1

extension FCMServer {
    /// The counts of `GET /emulator/counts`, which prove that nothing was lost or doubled.
    package struct Counts: Hashable, Sendable {
        package let accepted: Int
        package let distinct: Int
        package let doubled: Int
        package let unkeyed: Int

        package init(accepted: Int, distinct: Int, doubled: Int, unkeyed: Int) {
            self.accepted = accepted
            self.distinct = distinct
            self.doubled = doubled
            self.unkeyed = unkeyed
        }
    }

    package func counts() async throws -> Counts {
        let json = try await control(.GET, "counts")
        func number(_ name: String) throws -> Int {
            guard let number = json[name]?.integer else { throw TooLate("no \(name) in \(json)") }
            return Int(number)
        }
        return Counts(
            accepted: try number("accepted"), distinct: try number("distinct"), doubled: try number("doubled"),
            unkeyed: try number("unkeyed"))
    }

    /// Replaces the rules of fault injection. The same seed makes the same choices.
    package func setFaults(_ rules: [JSONValue], seed: Int64) async throws {
        _ = try await control(.PUT, "faults", ["seed": .integer(seed), "rules": .array(rules)])
    }

    /// The number of hits of each rule.
    package func faultHits() async throws -> [Int] {
        try await control(.GET, "faults")["rules"]?.array.map { Int($0["hits"]?.integer ?? 0) } ?? []
    }

    /// Calls one of the emulator's control endpoints.
    ///
    /// - Parameter section: The path under `/emulator/`.
    /// - Throws: ``UnexpectedAnswer`` for any status but 200.
    @discardableResult
    package func control(_ method: HTTPMethod, _ section: String, _ document: JSONValue? = nil) async throws -> JSONValue {
        let answer = try await call(method, "/emulator/\(section)", body: document?.data)
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return try answer.json
    }
}
