package import Schemas
package import Storage
package import StoredResources

/// The store of the templates, beside the archive.
enum Templates {
    static let store = StoreDeclaration("templates", MessageTemplate.collection, MessageTemplate.pendingAudit)
}

extension MessageTemplate: AuditedResource {
    package static let collection = Collection<MessageTemplate>(kind, indexes: [.unique(nameField)])
    package static let pendingAudit = StoredAuditEntry.collection("template_audit")
    private static let nameField = Field("name", \MessageTemplate.name)

    /// By their names.
    package static func all(in parent: Void) -> Query<MessageTemplate> { Query(order: .ascending(nameField)) }
}
