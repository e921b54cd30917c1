import EmbeddedDatabase
import GRDB
package import Schemas

extension SQLiteCubeStore {
    package func set(_ command: SetAccess, by author: AuditAuthor) async throws -> CubeEdit<AccessList> {
        try await edit(by: author) { database, version in
            func set<Row: ListedRow>(_ row: Row) throws -> CubeChange<AccessList> {
                try row.check(unchangedSince: command.unchangedSince)
                var new = row
                new.access = command.access.map(\.description)
                new.version = version
                try new.update(database)
                return CubeChange(
                    value: AccessList(access: command.access), growth: try new.size - row.size,
                    records: [.access(row.access, to: command)])
            }
            guard let areaID = command.areaID else { return try set(CubeQueries.channel(command.channelID, in: database)) }
            guard let subjectID = command.subjectID else {
                return try set(CubeQueries.area(areaID, of: command.channelID, in: database))
            }
            return try set(CubeQueries.subject(subjectID, of: areaID, of: command.channelID, in: database))
        }
    }

    package func set(_ command: SetApproval, by author: AuditAuthor) async throws -> CubeEdit<Approval> {
        try await edit(by: author) { database, version in
            let row = try CubeQueries.subject(command.subjectID, of: command.areaID, of: command.channelID, in: database)
            try row.check(unchangedSince: command.unchangedSince)
            var new = row
            new.approval = command.approval ? true : nil
            new.version = version
            try new.update(database)
            return CubeChange(
                value: Approval(approval: command.approval), growth: try new.size - row.size,
                records: [.approval(row.approval, to: command)])
        }
    }

    package func set(_ command: SetOrder, by author: AuditAuthor) async throws -> CubeEdit<CubeOrder> {
        try await edit(by: author) { database, version in
            let former: [ObjectID]
            if let channelID = command.channelID {
                if let areaID = command.areaID {
                    let parent = try CubeQueries.area(areaID, of: channelID, in: database)
                    former = try Self.sort(SubjectRow.filter(Column("areaID") == areaID), in: parent, command, version, database)
                } else {
                    let parent = try CubeQueries.channel(channelID, in: database)
                    former = try Self.sort(
                        AreaRow.filter(Column("channelID") == channelID), in: parent, command, version, database)
                }
            } else {
                let last = CubeVersion(rawValue: version.rawValue - 1)
                if let known = command.unchangedSince, last > known {
                    throw CommandFailure.cubeChanged(in: last, after: known)
                }
                former = try Self.sort(ChannelRow.all(), command, database)
            }
            return CubeChange(value: CubeOrder(ids: command.ids), growth: 0, records: [.order(former, to: command)])
        }
    }

    /// Sorts the children of a row, which counts as changed.
    private static func sort<Parent: CubeRow>(
        _ children: QueryInterfaceRequest<some CubeRow>, in parent: Parent, _ command: SetOrder, _ version: CubeVersion,
        _ database: Database
    ) throws -> [ObjectID] {
        try parent.check(unchangedSince: command.unchangedSince)
        let former = try sort(children, command, database)
        var parent = parent
        parent.version = version
        try parent.update(database)
        return former
    }

    /// Distributes the positions of rows among them anew.
    ///
    /// - Returns: The former order.
    private static func sort<Row: CubeRow>(
        _ request: QueryInterfaceRequest<Row>, _ command: SetOrder, _ database: Database
    ) throws -> [ObjectID] {
        let rows = try request.order(Column("position")).fetchAll(database)
        try command.check(present: rows.map(\.id))
        let move = try database.cachedStatement(sql: "UPDATE \(Row.databaseTableName) SET position = ? WHERE id = ?")
        let positions = rows.compactMap(\.position)
        // No two rows may have the same position at any time.
        for row in rows { try move.execute(arguments: [row.position.map { -$0 }, row.id]) }
        for (position, id) in zip(positions, command.ids) { try move.execute(arguments: [position, id]) }
        return rows.map(\.id)
    }
}

/// A row with a list.
protocol ListedRow: CubeRow {
    var access: [String] { get set }
}

extension ChannelRow: ListedRow {}
extension AreaRow: ListedRow {}
extension SubjectRow: ListedRow {}
