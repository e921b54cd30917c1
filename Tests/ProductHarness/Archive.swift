import NIOHTTP1

extension Portal {
    /// Reads every message of the archive, newest first, page by page.
    package func eachMessage(_ body: (JSONValue) throws -> Void) async throws {
        var next: String? = "/message?limit=200"
        while let path = next {
            let answer = try await call(.GET, path)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            let page = try answer.json
            for message in page["messages"]?.array ?? [] { try body(message) }
            next = page["next"]?.string
        }
    }
}
