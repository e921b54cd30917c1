package import JSON

extension Portal {
    /// All documents of a list, in the order of its pages.
    ///
    /// - Parameter member: The name of a page's list.
    package func all(_ member: String, at path: String) async throws -> [JSONValue] {
        var (documents, next): ([JSONValue], String?) = ([], path)
        while let path = next {
            let page = try await document(path)
            documents += page[member]?.elements ?? []
            next = page["next"]?.string
        }
        return documents
    }

    /// The objects of all entries of the audit log with an action, the latest first.
    package func auditedObjects(_ action: String) async throws -> [String] {
        try await all("entries", at: "/audit?limit=200&action=\(action)").compactMap { $0["entry"]?["object"]?["id"]?.string }
    }
}
