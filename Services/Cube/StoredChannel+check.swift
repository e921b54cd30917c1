import Schemas

/// The conditions of edits.
extension StoredChannel {
    /// Refuses an edit of an object that is not there, that cannot be read, or that was changed since the editor read it.
    ///
    /// - Parameters:
    ///   - place: A place in this channel.
    ///   - scope: What the edit changes.
    ///   - known: The version that the editor has read; `nil` if it does not matter.
    ///   - restored: The version in which all objects count as changed.
    /// - Throws: ``CommandFailure`` with status `not_found` or `conflict`.
    func check(
        _ place: CubePlace, _ scope: CubeScope, unchangedSince known: CubeVersion?, restored: CubeVersion?
    ) throws(CommandFailure) {
        let area: Area? = if let areaID = place.area { try self.area(areaID) } else { nil }
        if let area, let subjectID = place.subject { try checkSubject(subjectID, in: area) }
        guard scope != .addition else { return }
        var ids = [(place.subject != nil ? "subject" : area != nil ? "area" : "channel", place.id)]
        if place.subject == nil, scope == .order || scope == .contents {
            let parts = unreadable.filter { part in
                if let area { return part.area == area.id }
                return scope == .contents || part.id == part.area
            }
            if let part = parts.first {
                let channel = "channel \(channel.id)"
                let things = scope == .contents ? "something" : area == nil ? "an area" : "a subject"
                let location =
                    area.map { "in area \($0.id) of \(channel)" } ?? (scope == .contents ? "in \(channel)" : "of \(channel)")
                throw .unreadable("\(things) \(location)", part.reason, field: area == nil ? "channelID" : "areaID")
            }
        }
        if scope == .contents, place.subject == nil {
            for inner in channel.areas where area == nil || inner.id == area?.id {
                ids += [("area", inner.id)] + inner.subjects.map { ("subject", $0.id) }
            }
        }
        if scope == .contents { try checkDuplicates(of: ids.map(\.1)) }
        guard let known else { return }
        for (kind, id) in ids {
            let version = max(versions[id] ?? .initial, restored ?? .initial)
            guard version > known else { continue }
            throw CommandFailure(.conflict, "\(kind) \(id) was changed in version \(version), after version \(known)")
        }
    }

    /// Refuses to take away or to bring an object that has an unreadable duplicate: the duplicate would be taken for it.
    ///
    /// - Throws: ``CommandFailure`` with status `conflict`.
    func checkDuplicates(of ids: [ObjectID]) throws(CommandFailure) {
        guard let part = unreadable.first(where: { part in part.id.map(ids.contains) ?? false }), let id = part.id else { return }
        throw .unreadable("another object with the id \(id) in channel \(channel.id)", part.reason, field: "channelID")
    }

    private func area(_ id: ObjectID) throws(CommandFailure) -> Area {
        if let part = unreadable.first(where: { $0.id == id && $0.area == id }) {
            throw .unreadable("area \(id) in channel \(channel.id)", part.reason, field: "areaID")
        }
        guard let area = channel.areas.first(where: { $0.id == id }) else { throw .noArea(id, in: channel.id) }
        return area
    }

    private func checkSubject(_ id: ObjectID, in area: Area) throws(CommandFailure) {
        if let part = unreadable.first(where: { $0.id == id && $0.area == area.id }) {
            throw .unreadable("subject \(id) in area \(area.id) of channel \(channel.id)", part.reason, field: "subjectID")
        }
        guard area.subjects.contains(where: { $0.id == id }) else { throw .noSubject(id, in: area.id, of: channel.id) }
    }
}

extension CommandFailure {
    /// - Parameters:
    ///   - object: An unreadable object that another program has stored.
    ///   - field: The command's field that names it.
    fileprivate static func unreadable(_ object: String, _ reason: String, field: String) -> CommandFailure {
        CommandFailure(
            .conflict, "\(object) cannot be read (\(reason)), and is left as it is; put it right in the database", field: field)
    }
}
