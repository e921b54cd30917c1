import Schemas

/// The failures of all stores.
extension CommandFailure {
    static func notFound(_ id: some Any, in collection: CollectionForm) -> CommandFailure {
        CommandFailure(.notFound, "no \(collection.kind) \(id)")
    }

    static func changed(_ id: some Any, in collection: CollectionForm, _ revision: Revision, since known: Revision)
        -> CommandFailure
    {
        CommandFailure(
            .conflict, "\(collection.kind) \(id) was changed: it is at revision \(revision), and the edit began at \(known)")
    }

    static func unreadable(_ id: some Any, in collection: CollectionForm, _ reason: any Error) -> CommandFailure {
        unreadable(collection.kind, id, reason, field: Envelope.identifier)
    }

    static func duplicate(_ violation: UniqueViolation, in collection: CollectionForm) -> CommandFailure {
        let index = collection.indexes.first { $0.kind == .unique && $0.name == violation.index }
        let fields = (index?.fields.map(\.name) ?? [Envelope.identifier]).joined(separator: ", ")
        return CommandFailure(.conflict, "another \(collection.kind) has the same \(fields)", field: fields)
    }

    /// - Parameter file: The name of a SQLite file that is no store of collections.
    static func foreignFile(_ file: String) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "\(file) is no store of this version: a version of the hub before 1.0 or another program has made it. Move it away; nothing "
                + "was changed")
    }

    static func tooLarge(_ bytes: Int, in collection: CollectionForm) -> CommandFailure {
        CommandFailure(
            .invalid, "the \(collection.kind) would have \(bytes) bytes, and may have \(StoredSize.maxBytes); nothing was changed"
        )
    }
}

enum StoredSize {
    /// MongoDB's limit of 16 MiB of BSON, which also holds for SQLite.
    static let maxBytes = 16 << 20
}
