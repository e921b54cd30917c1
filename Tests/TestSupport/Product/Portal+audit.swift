import JSON
import NIOHTTP1

extension Portal {
    /// The objects of all entries of the audit log with an action, the latest first.
    package func auditedObjects(_ action: String) async throws -> [String] {
        var objects: [String] = []
        var path: String? = "/audit?limit=200&action=\(action)"
        while let next = path {
            let answer = try await call(.GET, next)
            guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
            let page = try answer.json
            objects += (page["entries"]?.elements ?? []).compactMap { $0["entry"]?["object"]?["id"]?.string }
            path = page["next"]?.string
        }
        return objects
    }
}
