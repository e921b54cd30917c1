package import Base

extension MongoConnection {
    /// The collection with the numbers of the forms of stores that have no number in each document, by the stores' names.
    private static let formatCollection = "format"

    /// Prepares a store, and notes the number of the form in which this version writes its documents. Call it before the first write.
    ///
    /// - Parameters:
    ///   - formats: The numbers that this version knows ("Versions" in Shared/Store/README.md).
    ///   - store: The store's name.
    ///   - prepare: Makes indexes and the like. If it throws, the stored number stays.
    /// - Throws: The error of ``checkFormat(_:of:)`` or of `prepare`.
    package func prepare(_ store: String, _ formats: FormatVersions, _ prepare: () throws -> Void) throws {
        try checkFormat(formats, of: store)
        try prepare()
        // An older instance beside a newer one must not lower it.
        let number = BSONValue.int64(Int64(formats.written))
        _ = try update(
            ["_id": .string(store)], ["$max": ["number": number]], in: Self.formatCollection, options: ["upsert": true])
    }

    /// Checks the number of the form in which a store's documents are. Changes nothing. Without a number the
    /// database is new, or only other programs have written to it.
    ///
    /// - Parameters: As of ``prepare(_:_:_:)``.
    /// - Throws: ``MongoError`` with code `unknownFormat` if another version has written them in a form that this version does not know.
    package func checkFormat(_ formats: FormatVersions, of store: String) throws {
        guard let stored = try find(["_id": .string(store)], in: Self.formatCollection).first else { return }
        let found: Int64 = try BSONFields(stored).value("number")
        do {
            try formats.check(Int(found), of: "\(store) in this database")
        } catch {
            throw MongoError(error)
        }
    }
}

extension MongoError {
    init(_ unknown: UnknownFormat) {
        self.init(.unknownFormat, unknown.description)
    }
}
