import EmbeddedDatabase
import GRDB

extension MessageRow {
    init(reading row: Row) throws(UnreadableRow) {
        do {
            try self.init(row: row)
        } catch {
            throw UnreadableRow(error)
        }
    }
}
