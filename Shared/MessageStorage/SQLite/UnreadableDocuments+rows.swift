import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

extension UnreadableDocuments {
    /// The messages of the readable rows in order. The log names the others by their `msi_key`.
    func messages(of rows: [Row]) throws -> [Message] {
        try readable(of: rows, named: "msiKey") { try MessageRow(row: $0).document }
    }

    /// The readable topic keys in order.
    func topics(_ stored: [DatabaseValue]) throws -> [TopicKey] {
        try readable(of: stored, named: Self.name) { value in
            guard let topic = TopicKey.fromDatabaseValue(value) else { throw UnreadableRow(description: "it is no topic key") }
            return topic
        }
    }
}
