import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

extension UnreadableDocuments {
    /// The readable rows in order. The log names the others by their key.
    func rows<Readable: OutboxRow>(of rows: [Row]) throws -> [Readable] {
        try readable(of: rows, named: Readable.table.keyColumn) { try Readable(row: $0) }
    }

    /// The messages of the readable rows in order. The log names the others by their `msi_key`.
    func messages(of rows: [Row]) throws -> [Message] {
        try self.rows(of: rows).map(\MessageRow.document)
    }

    /// The pushes of the readable rows in order. The log names the others by their id.
    func documents(of rows: [PushRow]) throws -> [Push] {
        try readable(of: rows, named: { $0.pushID.description }) { try $0.document }
    }
}
