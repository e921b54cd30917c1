import JSON
import Schemas
import Storage

extension Transaction {
    /// Records the change of a document for the audit log, if its kind is audited.
    ///
    /// - Parameters:
    ///   - action: The command's name.
    ///   - former: `nil` for a new document.
    ///   - document: `nil` for a deleted document.
    func record<Document: StoredResource>(
        _ action: String, _ id: ObjectID, from former: Document?, to document: Document?, by author: AuditAuthor
    ) throws {
        guard let type = Document.self as? any AuditedResource.Type else { return }
        let entry = AuditEntry(
            by: author, action: action, object: AuditObject(kind: Document.kind, id: "\(id)"), before: try former.map(Self.json),
            after: try document.map(Self.json))
        try insert(StoredAuditEntry(entry), into: type.pendingAudit)
    }

    private static func json(_ document: some Encodable) throws -> JSONValue {
        try JSONCoder.decode(from: JSONCoder.encode(document))
    }
}
