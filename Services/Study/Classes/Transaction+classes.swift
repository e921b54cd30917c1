import Base
import Schemas
import Store

/// A class, and what one person is in it.
typealias ClassMembership = (group: ClassDocument, member: EnrolmentDocument)

extension Transaction {
    /// The largest number of classes that ``StudyRules/classes`` may allow.
    private static var maxClasses: Int { 100 }
    private static var pageSize: Int { 500 }

    /// - Throws: ``CommandFailure`` with `not_found`.
    func studyClass(_ id: ObjectID) throws -> ClassDocument {
        guard let group = try get(id, from: StudyStore.classes)?.document else { throw CommandFailure.noClass(id) }
        return group
    }

    /// What a person is in a class; `nil` for nothing.
    ///
    /// - Parameter account: In lower case.
    func enrolment(of account: String, in classID: ObjectID) throws -> EnrolmentDocument? {
        let query = Query(where: StudyStore.memberClass == classID, StudyStore.memberAccount == account)
        return try page(of: StudyStore.members, query, limit: 1).documents.first?.document
    }

    /// What a person is in all classes.
    ///
    /// - Parameter account: In lower case.
    func enrolments(of account: String) throws -> [EnrolmentDocument] {
        let query = Query(where: StudyStore.memberAccount == account)
        return try page(of: StudyStore.members, query, limit: Self.maxClasses).documents.map(\.document)
    }

    /// A person's classes in the order of their names.
    func memberships(of account: AccountName) throws -> [ClassMembership] {
        let own = try enrolments(of: account.key)
        let classes = try get(all: own.map(\.classID), from: StudyStore.classes).map(\.document)
        let byID = Dictionary(classes.map { ($0.id, $0) }) { first, _ in first }
        let found: [ClassMembership] = own.compactMap { member in
            byID[member.classID].map { (group: $0, member: member) }
        }
        return found.sorted { ($0.group.name.searchFolded, $0.group.id) < ($1.group.name.searchFolded, $1.group.id) }
    }

    /// A class in which a person may do something.
    ///
    /// - Throws: ``CommandFailure``: `not_found` if the person is not in the class, `forbidden` if their role does not allow it.
    func require(_ action: ClassAction, of account: AccountName, in classID: ObjectID) throws -> ClassMembership {
        guard let member = try enrolment(of: account.key, in: classID) else { throw CommandFailure.noClass(classID) }
        guard action.isAllowed(to: member.role) else {
            let roles = ClassRole.allCases.filter(action.roles.contains).map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .forbidden, roles.isEmpty ? "nobody may do this in a class" : "in a class, this is for the roles: \(roles)")
        }
        return (try studyClass(classID), member)
    }

    /// The persons of a class who get pushes about its new sessions, page by page.
    func announcing(in classID: ObjectID, after cursor: Cursor?) throws -> Page<EnrolmentDocument> {
        let query = Query(where: StudyStore.memberClass == classID, StudyStore.memberAnnounces == true)
        return try page(of: StudyStore.members, query, after: cursor, limit: Self.pageSize)
    }

    /// The persons of a class in the order of their names, page by page.
    func members(of classID: ObjectID, after cursor: Cursor?, limit: Int) throws -> Page<EnrolmentDocument> {
        let query = Query(where: StudyStore.memberClass == classID, order: .ascending(StudyStore.memberAccount))
        return try page(of: StudyStore.members, query, after: cursor, limit: limit)
    }

    /// The persons of a class in the order in which they came, page by page. The cursor of a page names nobody: a person who sees
    /// it may not see the last one of the page.
    func classmates(of classID: ObjectID, after cursor: Cursor?, limit: Int) throws -> Page<EnrolmentDocument> {
        try page(of: StudyStore.members, Query(where: StudyStore.memberClass == classID), after: cursor, limit: limit)
    }

    func isErased(_ account: AccountName) throws -> Bool {
        try get(ErasedPersonDocument.identifier(of: account), from: StudyStore.erased) != nil
    }
}

extension CommandFailure {
    /// The same for a class that there is not, and for one in which the person is not.
    static func noClass(_ id: ObjectID) -> CommandFailure { CommandFailure(.notFound, "no class \(id)") }

    /// The same for every key with which nobody can join.
    static let wrongClassKey = CommandFailure(
        .forbidden, "key: unknown, used up or expired; ask for another one", field: "key")
}

extension ClassDocument {
    /// The class as one of its persons sees it.
    ///
    /// - Parameter sessions: The number of its open sessions.
    func view(for member: EnrolmentDocument, sessions: Int) -> StudyClass {
        StudyClass(
            id: id, name: name, description: description, identificationKey: identificationKey, professor: professorName,
            role: member.role, newSessions: member.announces == true, created: created, closed: closed, members: members,
            sessions: sessions, nameDays: member.role == .professor ? nameDays : nil)
    }

    /// The class as the operator sees it.
    var entry: ListAllClasses.Entry {
        ListAllClasses.Entry(
            id: id, identificationKey: identificationKey, name: name, professor: professorName, members: members, closed: closed)
    }
}

extension EnrolmentDocument {
    /// The person as the class's staff sees them.
    var view: ClassMember { ClassMember(account: name, role: role, number: number, joined: joined) }
}
