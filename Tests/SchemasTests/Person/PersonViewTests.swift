import Base
import FoundationEssentials
import Schemas
import Testing

/// Who sees which field of a profile.
@Suite("Views of persons")
struct PersonViewTests {
    private typealias Relation = PersonView.Relation

    /// A profile all of whose fields have the same visibility.
    private static func profile(_ visibility: Visibility?) -> Profile {
        Profile(
            firstName: "Ann", lastName: "Lee", born: CalendarDay("2004-02-29"), gender: "f", bio: "Physics",
            email: "ann@example.edu",
            visibility: ProfileVisibility(
                firstName: visibility, lastName: visibility, born: visibility, gender: visibility, bio: visibility,
                email: visibility))
    }

    private static func fields(_ view: PersonView) -> [String?] {
        [view.firstName, view.lastName, view.born?.description, view.gender, view.bio, view.email]
    }

    @Test("Nobody but the person sees a field that is not shown; friends see the rest, and classmates what is for them")
    func visibility() throws {
        for visibility in [nil] + Visibility.allCases.map(Optional.some) {
            let seenBy: Set<Relation> =
                switch visibility {
                case nil, .nobody?: [.oneself]
                case .friends?: [.oneself, .friends]
                case .classmates?: [.oneself, .friends, .classmates]
                }
            for relation in Relation.allCases {
                let fields = Self.fields(PersonView(try #require(AccountName("ann")), relation, Self.profile(visibility)))
                #expect(fields.count == 6)
                #expect(fields.allSatisfy { ($0 != nil) == seenBy.contains(relation) }, "\(relation) \(visibility as Any)")
            }
        }
    }

    @Test("Each field follows its own visibility, and a person without a profile has none")
    func single() throws {
        let ann = try #require(AccountName("ann"))
        let choices: [ProfileVisibility] = [
            .init(firstName: .friends), .init(lastName: .friends), .init(born: .friends), .init(gender: .friends),
            .init(bio: .friends), .init(email: .friends),
        ]
        for (index, choice) in choices.enumerated() {
            let all = Self.profile(nil)
            let profile = Profile(
                firstName: all.firstName, lastName: all.lastName, born: all.born, gender: all.gender, bio: all.bio,
                email: all.email, visibility: choice)
            let seen = Self.fields(PersonView(ann, .friends, profile)).enumerated().filter { $0.element != nil }.map(\.offset)
            #expect(seen == [index])
        }
        #expect(Self.fields(PersonView(ann, .oneself, nil)).allSatisfy { $0 == nil })
    }

    @Test("The JSON has the fields that are seen alone, and names the relation")
    func json() throws {
        let ann = try #require(AccountName("ann"))
        func text(_ relation: Relation, mutual: [AccountName]? = nil) throws -> String {
            let view = PersonView(ann, relation, Self.profile(.friends), mutualFriends: mutual)
            return String(decoding: try JSONCoder.encode(view), as: UTF8.self)
        }
        #expect(try text(.stranger) == #"{"account":"ann","relation":"none"}"#)
        #expect(try text(.received, mutual: [ann]) == #"{"account":"ann","mutual_friends":["ann"],"relation":"received"}"#)
        #expect(try text(.friends).contains(#""born":"2004-02-29""#))
        #expect(try text(.oneself).contains(#""relation":"self""#))
    }

    @Test("A profile's texts have limits, and its error names the field")
    func limits() throws {
        func wrong(_ json: String) -> String? { violation(of: SetProfile.self, in: #"{"profile":\#(json)}"#)?.field }
        let visibility = #""visibility":{}"#
        #expect(wrong("{\(visibility)}") == nil)
        #expect(wrong(#"{"bio":"\#(String(repeating: "b", count: 100))",\#(visibility)}"#) == nil)
        #expect(wrong(#"{"bio":"\#(String(repeating: "b", count: 101))",\#(visibility)}"#) == "profile.bio")
        #expect(wrong(#"{"first_name":"","gender":"  ",\#(visibility)}"#) == nil)
        #expect(wrong(#"{"first_name":"\#(String(repeating: "b", count: 101))",\#(visibility)}"#) == "profile.first_name")
        #expect(wrong(#"{"last_name":"a\u202eb",\#(visibility)}"#) == "profile.last_name")
        #expect(wrong(#"{"gender":"a\nb",\#(visibility)}"#) == "profile.gender")
        #expect(wrong(#"{"born":"2023-02-29",\#(visibility)}"#) == "profile.born")
        #expect(wrong(#"{"visibility":{"bio":"everyone"}}"#) == "profile.visibility.bio")
        #expect(wrong(#"{"picture":"x",\#(visibility)}"#) == "profile.picture")
    }
}
