import Base
import Schemas

/// A list of students in CSV, such as that of a university's office.
struct StudentList: Sendable {
    /// The columns. A row has at least the first two.
    enum Column: String, CaseIterable {
        case account, oidc
        case displayName = "display_name"
        case professor

        static let required = [account, oidc]
    }

    let rows: [ImportedAccount]

    /// Reads CSV, with the columns in any order. What has no column, or an empty cell, is `nil`.
    ///
    /// - Throws: ``CSVError``, with the line.
    init(csv text: String) throws(CSVError) {
        let table = try CSVTable(text)
        let known = Column.allCases.map(\.rawValue)
        for column in table.columns where !known.contains(column) {
            throw CSVError(line: 1, problem: "\"\(column)\" is not a column; they are \(known.joined(separator: ", "))")
        }
        for column in Column.required where !table.columns.contains(column.rawValue) {
            throw CSVError(line: 1, problem: "the column \(column.rawValue) is missing")
        }
        var rows: [ImportedAccount] = []
        var accounts: Set<AccountName> = []
        var persons: Set<String> = []
        for row in table.rows where !row.cells.values.allSatisfy(\.isEmpty) {
            let student = try ImportedAccount(row)
            guard accounts.insert(student.account).inserted else {
                throw CSVError(line: row.line, problem: "the account \(student.account) is there twice")
            }
            guard persons.insert(student.oidc).inserted else {
                throw CSVError(line: row.line, problem: "the identifier \(student.oidc) is there twice")
            }
            rows.append(student)
        }
        self.rows = rows
    }

    /// The students of the hub whom the list lacks.
    ///
    /// - Parameter students: Those who may sign in at the provider.
    func missing(of students: [Account]) -> [Account] {
        let listed = Set(rows.map(\.oidc))
        return students.filter { student in student.oidc.map { !listed.contains($0) } ?? false }
    }
}

extension ImportedAccount {
    fileprivate init(_ row: CSVTable.Row) throws(CSVError) {
        func cell(_ column: StudentList.Column) -> String? {
            row.cells[column.rawValue].flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let name = cell(.account).flatMap({ AccountName($0) }) else {
            throw CSVError(line: row.line, problem: "account: expected \(AccountName.expected)")
        }
        let professor: Bool?
        switch cell(.professor)?.lowercased() {
        case nil: professor = nil
        case "true"?: professor = true
        case "false"?: professor = false
        case _?: throw CSVError(line: row.line, problem: "professor: expected true, false or an empty cell")
        }
        self.init(account: name, oidc: cell(.oidc) ?? "", displayName: cell(.displayName), professor: professor)
        do {
            try check()
        } catch {
            throw CSVError(line: row.line, problem: "\(error)")
        }
    }
}
