/// The order of a query's documents: by these fields, then by `_id`. Documents without a field sort first.
package struct Order<Document>: Sendable {
    let fields: [FieldForm]
    let isDescending: Bool

    package static func ascending<each Value>(_ fields: repeat Field<Document, each Value>) -> Order {
        Order(false, repeat each fields)
    }

    package static func descending<each Value>(_ fields: repeat Field<Document, each Value>) -> Order {
        Order(true, repeat each fields)
    }

    private init<each Value>(_ isDescending: Bool, _ fields: repeat Field<Document, each Value>) {
        var forms: [FieldForm] = []
        repeat forms.append((each fields).form)
        self.fields = forms
        self.isDescending = isDescending
    }
}
