import EmbeddedDatabase
import GRDB
import Schemas
import UnreadableDocuments

extension UnreadableDocuments {
    /// The messages of the readable rows in order. The log names the others by their `msi_key`.
    func messages(of rows: [Row]) throws -> [Message] {
        try readable(of: rows, named: "msiKey") { try MessageRow(row: $0).document }
    }

    /// The pushes of the readable rows in order. The log names the others by their id.
    func pushes(of rows: [Row]) throws -> [Push] {
        try readable(of: rows, named: "pushID") { try PushRow(row: $0).document }
    }
}
