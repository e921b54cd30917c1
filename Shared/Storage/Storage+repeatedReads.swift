import EmbeddedDatabase

/// What is read again and again, such as once a second. It is only read if the database may have changed. MongoDB does not tell, so it
/// is always read there.
extension Storage {
    /// Whether repeated reads cost nothing while nothing changes.
    package var tellsChanges: Bool { revision != nil }

    /// - Returns: A function that reads from one snapshot.
    package func repeatedSnapshot<Value: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) -> @Sendable () async throws -> Value {
        let last = RepeatedRead<Value>()
        return { try await last.value(at: self.revision) { try await self.snapshot(body) } }
    }

    /// - Returns: A function that reads the first documents of a query.
    package func repeatedPage<Document>(
        of collection: Collection<Document>, _ query: Query<Document>, limit: Int
    ) -> @Sendable () async throws -> [Document] {
        let last = RepeatedRead<[Document]>()
        return {
            try await last.value(at: self.revision) {
                try await self.page(of: collection, query, limit: limit).documents.map(\.document)
            }
        }
    }
}
