import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

extension UnreadableDocuments {
    /// The messages of those rows that can be read, in the same order. The log calls the others by their `msi_key`.
    func messages(of rows: [Row]) throws -> [Message] {
        try readable(of: rows, named: "msiKey") { try MessageRow(row: $0).document }
    }

    /// Those topic keys that can be read, in the same order.
    func topics(_ stored: [DatabaseValue]) throws -> [TopicKey] {
        try readable(of: stored, named: Self.name) { value in
            guard let topic = TopicKey.fromDatabaseValue(value) else { throw UnreadableRow(description: "it is no topic key") }
            return topic
        }
    }
}
