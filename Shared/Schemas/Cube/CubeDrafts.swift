package import Base

/// A portal's document to create or replace a channel or an area: `{"name": …, "desc": …}` (seed, "REST API", Area; the seed does
/// not define the creation of a channel, so it has the same form).
package struct NamedDraft: Codable, Checked, Hashable, Sendable {
    package var name: String
    package var desc: String

    package init(name: String, desc: String) {
        self.name = name
        self.desc = desc
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, desc
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.name.check(name, CodingKeys.name)
        try TextLimits.description.check(desc, CodingKeys.desc)
    }
}

/// A portal's document to create or replace a subject (seed, "REST API", Subject).
package struct SubjectDraft: Codable, Checked, Hashable, Sendable {
    package var name: String
    package var desc: String
    package var opt: SubjectOptions

    package init(name: String, desc: String, opt: SubjectOptions) {
        self.name = name
        self.desc = desc
        self.opt = opt
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, desc, opt
    }

    package func check() throws(SchemaViolation) {
        try TextLimits.name.check(name, CodingKeys.name)
        try TextLimits.description.check(desc, CodingKeys.desc)
    }
}
