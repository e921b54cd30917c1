import Base
import Schemas

/// The columns of a cube in CSV: a row for each subject, and one for an area or a channel with nothing inside.
enum CubeColumn: String, CaseIterable {
    case channel, area, subject, level, distribution, approval
    case channelDesc = "channel_desc"
    case areaDesc = "area_desc"
    case subjectDesc = "subject_desc"
    case channelAccess = "channel_access"
    case areaAccess = "area_access"
    case subjectAccess = "subject_access"

    /// The columns that describe a subject.
    static let ofSubjects: [CubeColumn] = [.level, .distribution, .approval, .subjectDesc, .subjectAccess]

    /// Names of accounts.
    var isAccess: Bool { [.channelAccess, .areaAccess, .subjectAccess].contains(self) }
}

extension CubeFile {
    /// Reads CSV. The columns may be in any order, and only `channel` is required. The case of their names, levels and distributions does
    /// not matter. What a file has no column for stays as it is, and so
    /// does a level, a distribution or an approval with an empty cell. An empty description or access list is a value in the first row
    /// of its channel, area or subject; in further rows it means the same as above.
    ///
    /// - Throws: ``CubeFileError``, with the line.
    init(csv text: String) throws {
        self.init(channels: [])
        do {
            let table = try CSVTable(text)
            let known = CubeColumn.allCases.map(\.rawValue)
            for column in table.columns where !known.contains(column) {
                throw CSVError(
                    line: 1, problem: "\"\(column)\" is not a column; they are \(known.joined(separator: ", "))")
            }
            guard table.columns.contains(CubeColumn.channel.rawValue) else {
                throw CSVError(line: 1, problem: "the column channel is missing")
            }
            for row in table.rows where !row.cells.values.allSatisfy(\.isEmpty) {
                try add(row, areas: table.columns.contains("area"), subjects: table.columns.contains("subject"))
            }
        } catch {
            throw CubeFileError(description: "\(error)")
        }
    }

    /// - Parameters:
    ///   - areas: Whether the table has areas.
    ///   - subjects: Whether it has subjects.
    private mutating func add(_ row: CSVTable.Row, areas hasAreas: Bool, subjects hasSubjects: Bool) throws {
        let reader = CubeRow(row)
        guard let channelName = reader.name(.channel) else { throw reader.error("the channel has no name") }
        let channel = Channel(
            name: channelName, desc: reader[.channelDesc], access: try reader.access(.channelAccess), areas: hasAreas ? [] : nil)
        let place = try Self.place(channel, in: &channels, reader)
        try reader.checked(channel)
        guard let areaName = reader.name(.area) else {
            if reader.name(.subject) != nil { throw reader.error("the subject has no area") }
            try reader.requireEmpty([.areaDesc, .areaAccess] + CubeColumn.ofSubjects, because: "the area has no name")
            return
        }
        let area = Area(
            name: areaName, desc: reader[.areaDesc], access: try reader.access(.areaAccess), subjects: hasSubjects ? [] : nil)
        try reader.checked(area)
        var areas = channels[place].areas ?? []
        let areaPlace = try Self.place(area, in: &areas, reader)
        if let subject = try reader.subject() {
            guard areas[areaPlace].subjects?.contains(where: { $0.name == subject.name }) != true else {
                throw reader.error("the subject \(channelName)/\(areaName)/\(subject.name) is there twice")
            }
            areas[areaPlace].subjects?.append(subject)
        } else {
            try reader.requireEmpty(CubeColumn.ofSubjects, because: "the subject has no name")
        }
        channels[place].areas = areas
    }

    /// Finds a part by its name, and adds it if it is missing.
    private static func place<Value: Part>(
        _ part: Value, in parts: inout [Value], _ reader: CubeRow
    ) throws -> Int {
        guard let place = parts.firstIndex(where: { $0.name == part.name }) else {
            parts.append(part)
            return parts.count - 1
        }
        // In a table, an empty cell below a full one means the same.
        if let desc = part.desc, !desc.isEmpty, desc != parts[place].desc {
            throw reader.error("\(part.name) has another description than in a row before")
        }
        if let access = part.access, !access.isEmpty, Set(access) != Set(parts[place].access ?? []) {
            throw reader.error("\(part.name) has another access list than in a row before")
        }
        return place
    }
}

/// One row of a cube in CSV.
private struct CubeRow {
    private let row: CSVTable.Row

    init(_ row: CSVTable.Row) { self.row = row }

    subscript(_ column: CubeColumn) -> String? { row.cells[column.rawValue] }

    /// A cell that has a text.
    func name(_ column: CubeColumn) -> String? {
        self[column].flatMap { $0.isEmpty ? nil : $0 }
    }

    func error(_ problem: String) -> CSVError { CSVError(line: row.line, problem: problem) }

    /// - Throws: If a cell of a part without a name has a text.
    func requireEmpty(_ columns: [CubeColumn], because problem: String) throws {
        let full = columns.first { name($0) != nil }
        if let full { throw error("\(problem), but the row has the \(full.rawValue) of one") }
    }

    func checked(_ part: some Checked) throws {
        do {
            try part.check()
        } catch {
            throw self.error("\(error)")
        }
    }

    /// Names of accounts, separated by spaces.
    func access(_ column: CubeColumn) throws -> [AccountName]? {
        try self[column].map { text in
            try text.split(separator: " ").map { name in
                guard let name = AccountName(String(name)) else {
                    throw error("\(column.rawValue): expected names of accounts, separated by spaces, found \"\(name)\"")
                }
                return name
            }
        }
    }

    func subject() throws -> CubeFile.Subject? {
        guard let name = name(.subject) else { return nil }
        let level: SubscriptionLevel? = try value(.level) { $0.cell }
        let distribution: Distribution? = try value(.distribution, \.rawValue)
        let options = CubeFile.Options(level: level, distribution: distribution)
        let approval = try self.name(.approval).map { text in
            guard let approval = ["true": true, "false": false][text.lowercased()] else {
                throw error("approval: expected true, false or an empty cell, found \"\(text)\"")
            }
            return approval
        }
        let subject = CubeFile.Subject(
            name: name, desc: self[.subjectDesc], access: try access(.subjectAccess),
            opt: level == nil && distribution == nil ? nil : options, approval: approval)
        try checked(subject)
        return subject
    }

    /// - Returns: The word of a cell, `nil` for an empty one.
    private func value<Word: CaseIterable>(_ column: CubeColumn, _ cell: (Word) -> String) throws -> Word? {
        try self.name(column).map { text in
            guard let word = Word.allCases.first(where: { cell($0).lowercased() == text.lowercased() }) else {
                let words = Word.allCases.map(cell).joined(separator: ", ")
                throw error("\(column.rawValue): expected one of \(words), or an empty cell, found \"\(text)\"")
            }
            return word
        }
    }
}

extension SubscriptionLevel {
    /// Its cell in CSV, where an empty one means that the level stays.
    fileprivate var cell: String { self == .optional ? "Optional" : rawValue }
}

extension CubeFile {
    /// The cube in CSV, without the columns of access lists if they are not known.
    ///
    /// - Throws: ``CubeFileError`` if a name is twice at one place: CSV names parts without ids.
    func csv() throws -> String {
        try Self.checkNames(channels, in: "")
        let showsAccess = channels.contains { $0.access != nil }
        let columns = CubeColumn.allCases.filter { showsAccess || !$0.isAccess }
        let rows = try channels.flatMap { channel in
            try Self.checkNames(channel.areas ?? [], in: channel.name + "/")
            return try Self.orNothing(channel.areas).flatMap { area in
                try Self.checkNames(area?.subjects ?? [], in: "\(channel.name)/\(area?.name ?? "")/")
                return Self.orNothing(area?.subjects).map { Self.cells(channel, area, $0) }
            }
        }
        let lines = [CSVLine(header: columns.map(\.rawValue))] + rows.map { row in CSVLine(columns.map { row[$0] ?? "" }) }
        return lines.map(\.text).joined()
    }

    /// The parts, or one row without a part.
    private static func orNothing<Value: Part>(_ parts: [Value]?) -> [Value?] {
        parts.flatMap { $0.isEmpty ? nil : $0 } ?? [nil]
    }

    private static func checkNames(_ parts: [some Part], in place: String) throws {
        var known: Set<String> = []
        for part in parts where !known.insert(part.name).inserted {
            throw CubeFileError(description: "\(place)\(part.name) is twice in the cube, which CSV cannot express; use JSON")
        }
    }

    private static func cells(_ channel: Channel, _ area: Area?, _ subject: Subject?) -> [CubeColumn: String] {
        func list(_ names: [AccountName]?) -> String? { names.map { $0.map(\.description).joined(separator: " ") } }
        return [
            .channel: channel.name, .channelDesc: channel.desc, .channelAccess: list(channel.access),
            .area: area?.name, .areaDesc: area?.desc, .areaAccess: list(area?.access),
            .subject: subject?.name, .subjectDesc: subject?.desc, .subjectAccess: list(subject?.access),
            .level: subject?.opt?.level?.cell, .distribution: subject?.opt?.distribution?.rawValue,
            .approval: subject?.approval.map { "\($0)" },
        ].compactMapValues(\.self)
    }
}
