import EmbeddedDatabase
import GRDB
import Schemas

extension UnreadableDocuments {
    /// The messages of those rows that can be read, in the same order. The log calls the others by their `msi_key`.
    func messages(of rows: [Row]) throws -> [Message] {
        try readable(of: rows, named: { Self.text($0["msiKey"]) }, as: Self.message)
    }

    /// Those topic keys that can be read, in the same order.
    func topics(_ stored: [DatabaseValue]) throws -> [TopicKey] {
        try readable(of: stored, named: Self.text) { value in
            guard let topic = TopicKey.fromDatabaseValue(value) else { throw UnreadableRow(description: "it is no topic key") }
            return topic
        }
    }

    private static func message(_ row: Row) throws(UnreadableRow) -> Message {
        do {
            return try MessageRow(row: row).document
        } catch let error as RowDecodingError {
            // What comes after the dash is the whole row, with the message's text.
            let parts = error.description.split(separator: " - ", maxSplits: 1)
            throw UnreadableRow(description: String(parts.first?.prefix(200) ?? "a column is not as expected"))
        } catch {
            throw UnreadableRow(description: String("\(error)".prefix(200)))
        }
    }

    private static func text(_ value: DatabaseValue) -> String {
        String(String.fromDatabaseValue(value)?.prefix(100) ?? "without a name")
    }
}

/// A row that is no message: why, without the message's text.
private struct UnreadableRow: Error, CustomStringConvertible {
    let description: String
}
