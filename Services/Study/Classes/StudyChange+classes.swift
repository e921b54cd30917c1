import Base
import Schemas
import Store

/// The changes of classes, and of who is in them.
extension StudyChange {
    /// Makes a class, whose professor is the caller. Repeated with the same key, it finds the same class.
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` for an erased person; `conflict` as ``AddClass`` says.
    mutating func add(_ command: AddClass, by account: AccountName) throws -> ClassMembership {
        try requireNotErased(account)
        let draft = command.draft
        let request = RequestHash.text(command.requestKey, of: account, for: "class")
        if let request, let known = try transaction.studyClass(madeBy: request) {
            guard known.name.tidied == draft.name.tidied, known.foldedKey == draft.identificationKey.lowercased() else {
                throw CommandFailure.reusedKey(for: "class")
            }
            return try transaction.require(.readClass, of: account, in: known.id)
        }
        try transaction.requireUnused(draft.identificationKey, except: nil)
        let new = ClassDocument(
            id: ObjectID(), name: draft.name.tidied, description: draft.description?.visibleOrNone,
            identificationKey: draft.identificationKey, foldedKey: draft.identificationKey.lowercased(),
            professor: account.key, professorName: account, created: now, closed: nil,
            nameDays: draft.nameDays ?? StudyLimits.defaultNameDays, members: 0, lastNumber: 0, request: request)
        try transaction.insert(new, into: StudyStore.classes)
        let added = try enrol(account, in: new.id, as: .professor)
        record(AddClass.name, .studyClass(new.id), after: new.audited)
        return added
    }

    /// Changes a class.
    ///
    /// - Throws: ``CommandFailure``: `not_found` and `forbidden`; `conflict` if another class has the identification key.
    mutating func update(_ id: ObjectID, _ edit: ClassEdit, by account: AccountName) throws -> ClassMembership {
        let (before, member) = try transaction.require(.changeClass, of: account, in: id)
        if let key = edit.identificationKey { try transaction.requireUnused(key, except: id) }
        let now = now
        let group = try transaction.update(id, in: StudyStore.classes) { $0.apply(edit, at: now) }.document
        guard group != before else { return (group, member) }
        if before.closed == nil, group.closed != nil { try endSessions(of: id) }
        record(UpdateClass.name, .studyClass(id), before: before.audited, after: group.audited)
        changed(.person(account, .classes, id: id))
        return (group, member)
    }

    /// Makes a person the professor of a class. The professor until then becomes a teaching assistant.
    ///
    /// - Throws: ``CommandFailure``: `not_found`; `conflict` with the field `account` for an erased person, without a field for
    ///   one who is in too many classes.
    mutating func give(_ id: ObjectID, to account: AccountName) throws -> ClassDocument {
        let before = try transaction.studyClass(id)
        guard before.professor != account.key else { return before }
        guard try !transaction.isErased(account) else {
            throw CommandFailure(.conflict, "account: \(account) was erased", field: "account")
        }
        if let key = before.professor, let professor = try transaction.enrolment(of: key, in: id) {
            try setRole(.assistant, of: professor)
        }
        if let member = try transaction.enrolment(of: account.key, in: id) {
            try setRole(.professor, of: member)
        } else {
            _ = try enrol(account, in: id, as: .professor)
        }
        let group = try transaction.update(id, in: StudyStore.classes) { group in
            group.professor = account.key
            group.professorName = account
        }.document
        record(GiveClass.name, .studyClass(id), before: before.audited, after: group.audited)
        return group
    }

    /// The caller chooses whether to get pushes about new sessions.
    mutating func choosePushes(_ newSessions: Bool, of account: AccountName, in id: ObjectID) throws -> ClassMembership {
        let (group, member) = try transaction.require(.chooseNewSessionPushes, of: account, in: id)
        let chosen = try transaction.update(member.id, in: StudyStore.members) { member in
            member.announces = newSessions ? true : nil
        }.document
        if chosen != member { changed(.person(account, .classes, id: id)) }
        return (group, chosen)
    }

    /// - Throws: ``CommandFailure`` with `unauthenticated` if the person was erased a short time ago, as long as a gateway may
    ///   still take their token.
    func requireNotErased(_ account: AccountName) throws {
        guard try !transaction.isErased(account) else {
            throw CommandFailure(.unauthenticated, "the account \(account) was erased")
        }
    }
}

extension Transaction {
    /// The class that a request has made which is now repeated; `nil` for none.
    fileprivate func studyClass(madeBy request: String) throws -> ClassDocument? {
        try page(of: StudyStore.classes, Query(where: StudyStore.classRequest == request), limit: 1).documents.first?.document
    }

    /// - Parameter id: The class that may have the key.
    /// - Throws: ``CommandFailure`` with `conflict` if another one has it.
    fileprivate func requireUnused(_ identificationKey: String, except id: ObjectID?) throws {
        let query = Query(where: StudyStore.classFoldedKey == identificationKey.lowercased())
        guard let other = try page(of: StudyStore.classes, query, limit: 1).documents.first, other.id != id else { return }
        throw CommandFailure(
            .conflict, "identification_key: another class has it; choose another one", field: "identification_key")
    }
}

extension ClassDocument {
    fileprivate mutating func apply(_ edit: ClassEdit, at now: UnixMilliseconds) {
        if let name = edit.name { self.name = name.tidied }
        if let description = edit.description { self.description = description.visibleOrNone }
        if let key = edit.identificationKey { (identificationKey, foldedKey) = (key, key.lowercased()) }
        if let nameDays = edit.nameDays { self.nameDays = nameDays }
        switch edit.closed {
        case true?: closed = closed ?? now
        case false?: closed = nil
        case nil: break
        }
    }

    /// What the audit log has of it.
    fileprivate var audited: JSONValue {
        var fields: JSONValue = [
            "name": .string(name), "identification_key": .string(identificationKey), "name_days": .integer(nameDays),
        ]
        fields["description"] = description.map { JSONValue.string($0) }
        fields["professor"] = professorName.map { JSONValue.string($0.description) }
        fields["closed"] = closed.map { JSONValue.integer($0.rawValue) }
        return fields
    }
}

extension String {
    /// `nil` for a text without a visible character: it removes what was there.
    fileprivate var visibleOrNone: String? { isInvisible ? nil : self }
}
